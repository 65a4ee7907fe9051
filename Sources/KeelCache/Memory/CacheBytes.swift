#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How many bytes values have, for limits in bytes.
enum CacheBytes {
    /// What a value counts that cannot be measured.
    private static let unmeasured = 1_024

    /// A cost function for values without a coding.
    static func count<Value: Sendable>(of value: Value) -> Int {
        switch value {
        case let bytes as [UInt8]: bytes.count
        case let data as Data: data.count
        case let text as String: text.utf8.count
        case let value as any Encodable: (try? JSONEncoder().encode(value).count) ?? unmeasured
        default: unmeasured
        }
    }

    /// The cost function of a cache: what is given, bytes where the limits are in bytes, or none.
    static func cost<Key: Hashable & Sendable, Value: Sendable>(
        _ given: (@Sendable (Value) -> Int)?,
        _ limits: CacheLimits,
        _ coding: CacheCoding<Key, Value>?
    ) -> (@Sendable (Value) -> Int)? {
        guard given == nil, limits.countsBytes else { return given }
        guard let coding else { return { count(of: $0) } }
        return { (try? coding.encode($0).count) ?? unmeasured }
    }
}

extension TierQueue.Work {
    /// How many bytes the value has that is to be written.
    var valueBytes: Int? {
        guard case .write(let record) = self, case .bytes(let bytes) = record.body else {
            return nil
        }
        return bytes.count
    }
}
