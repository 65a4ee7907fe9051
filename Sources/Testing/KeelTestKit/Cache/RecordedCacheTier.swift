public import KeelCache

/// A cache tier that records its calls and forwards them.
///
/// ```swift
/// let recorded = InMemoryCacheTier().recorded()
/// let cache = Cache(over: recorded, name: "notes", coding: CacheCoding<String, String>.string)
/// await cache.set("Hello", for: "1")
/// #expect(recorded.callCount(of: .write) == 1)
/// ```
///
/// A call is recorded first, whatever the outcome. Copies share one record.
public struct RecordedCacheTier<Upstream: CacheTier>: CacheTier {
    fileprivate let upstream: Upstream
    private let memory = CallMemory<CacheTierCall>()

    // MARK: Recorded calls

    /// All calls, in order.
    public var calls: [CacheTierCall] { memory.all }

    /// The number of calls.
    public var callCount: Int { memory.all.count }

    /// Returns the number of calls of a kind.
    public func callCount(of kind: CacheTierCall.Kind) -> Int {
        memory.all.count { $0.kind == kind }
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

    /// Forgets the calls so far.
    public func forget() { memory.forget() }

    // MARK: Tier

    public func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        memory.add(.read(key))
        return try await upstream.read(key)
    }

    public func write(_ records: [CacheRecord]) async throws(CacheError) {
        memory.add(.write(records))
        try await upstream.write(records)
    }

    public func remove(_ selection: CacheSelection) async throws(CacheError) {
        memory.add(.remove(selection))
        try await upstream.remove(selection)
    }

    public func flush() async throws(CacheError) {
        memory.add(.flush)
        try await upstream.flush()
    }

    public func makeFile() async throws(CacheError) -> (any CacheFileWriter)? {
        memory.add(.makeFile)
        return try await upstream.makeFile()
    }

    public func usage() async throws(CacheError) -> CacheTierUsage {
        memory.add(.usage)
        return try await upstream.usage()
    }
}

extension CacheTier {
    /// Records the calls; see ``RecordedCacheTier``.
    public func recorded() -> RecordedCacheTier<Self> { RecordedCacheTier(upstream: self) }
}
