import Foundation

/// Numbers in an `NSCache`, read by strings that already are objects.
///
/// Unchecked, because `NSCache` is thread-safe and the array never changes.
final class PeerObjects: @unchecked Sendable {
    private let cache = NSCache<NSString, NSNumber>()
    private let reads: [NSString]

    init(_ reads: [String]) {
        // As many objects as keys: reads of a key share its object, as in Keel's row.
        var objects: [String: NSString] = [:]
        for key in reads where objects[key] == nil {
            objects[key] = NSString(string: key)
            cache.setObject(NSNumber(value: objects.count), forKey: NSString(string: key))
        }
        self.reads = reads.compactMap { objects[$0] }
    }

    /// Returns the nanoseconds of a read.
    func perRead() throws -> Double {
        var found = 0
        let start = ContinuousClock.now
        for key in reads where cache.object(forKey: key) != nil { found += 1 }
        return try CacheGroup.perRead(found, of: reads.count, since: start)
    }
}
