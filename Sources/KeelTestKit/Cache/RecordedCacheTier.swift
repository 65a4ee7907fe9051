public import KeelCache
internal import Synchronization

/// A cache tier that records its calls and forwards them.
///
/// ```swift
/// let recorded = InMemoryCacheTier().recorded()
/// let cache = Cache(over: recorded, name: "notes", coding: CacheCoding<String, String>.string)
/// await cache.set("Hello", for: "1")
/// #expect(recorded.callCount(of: .write) == 1)
/// ```
///
/// A call is recorded before it is forwarded, whatever the outcome. Copies share one record.
public struct RecordedCacheTier<Upstream: CacheTier>: CacheTier {
    private final class Memory: Sendable {
        let calls = Mutex<[CacheTierCall]>([])
    }

    private let upstream: Upstream
    private let memory = Memory()

    /// Creates the decorator; prefer `tier.recorded()`.
    public init(_ upstream: Upstream) { self.upstream = upstream }

    // MARK: Recorded calls

    /// All calls, in order.
    public var calls: [CacheTierCall] { memory.calls.withLock { $0 } }

    /// The number of calls.
    public var callCount: Int { memory.calls.withLock { $0.count } }

    /// Returns the number of calls of a kind.
    public func callCount(of kind: CacheTierCall.Kind) -> Int {
        memory.calls.withLock { calls in calls.count { $0.kind == kind } }
    }

    /// The key of the most recent read.
    public var lastRead: [UInt8]? {
        calls.reversed().lazy.compactMap { call -> [UInt8]? in
            guard case .read(let key) = call else { return nil }
            return key
        }.first
    }

    /// The records of all writes, in order.
    public var records: [CacheRecord] {
        calls.flatMap { call -> [CacheRecord] in
            guard case .write(let records) = call else { return [] }
            return records
        }
    }

    /// The selections of all removals, in order.
    public var removals: [CacheSelection] {
        calls.compactMap { call -> CacheSelection? in
            guard case .remove(let selection) = call else { return nil }
            return selection
        }
    }

    /// Discards the recorded calls.
    public func forget() { memory.calls.withLock { $0 = [] } }

    private func remember(_ call: CacheTierCall) { memory.calls.withLock { $0.append(call) } }

    // MARK: Tier

    public func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        remember(.read(key))
        return try await upstream.read(key)
    }

    public func write(_ records: [CacheRecord]) async throws(CacheError) {
        remember(.write(records))
        try await upstream.write(records)
    }

    public func remove(_ selection: CacheSelection) async throws(CacheError) {
        remember(.remove(selection))
        try await upstream.remove(selection)
    }

    public func flush() async throws(CacheError) {
        remember(.flush)
        try await upstream.flush()
    }

    public func makeFile() async throws(CacheError) -> (any CacheFileWriter)? {
        remember(.makeFile)
        return try await upstream.makeFile()
    }

    public func usage() async throws(CacheError) -> CacheTierUsage {
        remember(.usage)
        return try await upstream.usage()
    }
}

extension CacheTier {
    /// Records the calls; see ``RecordedCacheTier``.
    public func recorded() -> RecordedCacheTier<Self> { RecordedCacheTier(self) }
}
