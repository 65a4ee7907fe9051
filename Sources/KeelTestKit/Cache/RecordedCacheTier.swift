public import KeelCache
internal import Synchronization

/// A tier that remembers the calls it gets and hands each of them on.
///
/// ```swift
/// let recorded = InMemoryCacheTier().recorded()
/// let cache = Cache(over: recorded, name: "notes", coding: CacheCoding<String, String>.string)
/// await cache.set("Hello", for: "1")
/// #expect(recorded.callCount(of: .write) == 1)
/// ```
///
/// A call is remembered before it is handed on, whatever becomes of it. Copies share one memory.
public struct RecordedCacheTier<Upstream: CacheTier>: CacheTier {
    private final class Memory: Sendable {
        let calls = Mutex<[CacheTierCall]>([])
    }

    private let upstream: Upstream
    private let memory = Memory()

    /// Creates the decorator; `tier.recorded()` is the usual way.
    public init(_ upstream: Upstream) { self.upstream = upstream }

    // MARK: What was called

    /// All calls, in the order in which they came.
    public var calls: [CacheTierCall] { memory.calls.withLock { $0 } }

    /// How many calls there were.
    public var callCount: Int { memory.calls.withLock { $0.count } }

    /// How many calls of a kind there were.
    public func callCount(of kind: CacheTierCall.Kind) -> Int {
        memory.calls.withLock { calls in calls.count { $0.kind == kind } }
    }

    /// The key that was read last.
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

    /// What was removed, in order.
    public var removals: [CacheSelection] {
        calls.compactMap { call -> CacheSelection? in
            guard case .remove(let selection) = call else { return nil }
            return selection
        }
    }

    /// Forgets the calls so far.
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
    /// Remembers the calls; see ``RecordedCacheTier``.
    public func recorded() -> RecordedCacheTier<Self> { RecordedCacheTier(self) }
}
