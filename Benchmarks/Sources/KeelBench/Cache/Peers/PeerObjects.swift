import Foundation

/// Numbers in an `NSCache`, read by strings that are objects already.
///
/// Unchecked: `NSCache` locks itself, and the array is never changed.
final class PeerObjects: @unchecked Sendable {
    private let cache = NSCache<NSString, NSNumber>()
    private let reads: [NSString]

    init(_ reads: [String]) {
        // As many objects as keys: the reads of one key share theirs, as they do in Keel's row.
        var objects: [String: NSString] = [:]
        for key in reads where objects[key] == nil {
            objects[key] = NSString(string: key)
            cache.setObject(NSNumber(value: objects.count), forKey: NSString(string: key))
        }
        self.reads = reads.compactMap { objects[$0] }
    }

    /// Nanoseconds that a read takes.
    func perRead() throws -> Double {
        var found = 0
        let start = ContinuousClock.now
        for key in reads where cache.object(forKey: key) != nil { found += 1 }
        return try CacheGroup.perRead(found, of: reads.count, since: start)
    }
}
