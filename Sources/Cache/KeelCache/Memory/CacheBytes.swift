#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

enum CacheBytes {
    private static let unmeasured = 1_024

    static func count<Value: Sendable>(of value: Value) -> Int {
        switch value {
        case let bytes as [UInt8]: bytes.count
        case let data as Data: data.count
        case let text as String: text.utf8.count
        case let value as any Encodable: (try? JSONEncoder().encode(value).count) ?? unmeasured
        default: unmeasured
        }
    }

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
    var valueBytes: Int? {
        guard case .write(let record) = self, case .bytes(let bytes) = record.body else {
            return nil
        }
        return bytes.count
    }
}
