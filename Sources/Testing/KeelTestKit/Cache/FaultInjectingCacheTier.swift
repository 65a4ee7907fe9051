public import KeelCache

/// A cache tier whose calls fail on demand.
///
/// ```swift
/// let full = InMemoryCacheTier().failing { $0.kind == .write ? .fail(.diskFull) : nil }
/// let flaky = InMemoryCacheTier().failing([.loseReply(), nil, .delay(.seconds(2))])
/// ```
///
/// Copies share the call count and the position in the list.
public struct FaultInjectingCacheTier<Upstream: CacheTier>: CacheTier {
    fileprivate let upstream: Upstream
    fileprivate let schedule: CallFaults<CacheTierCall, CacheTierFault>

    /// The number of calls.
    public var callCount: Int { schedule.callCount }

    // MARK: Tier

    public func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        let loss = try await beginning(.read(key))
        let record = try await upstream.read(key)
        if let loss { throw loss }
        return record
    }

    public func write(_ records: [CacheRecord]) async throws(CacheError) {
        let loss = try await beginning(.write(records))
        try await upstream.write(records)
        if let loss { throw loss }
    }

    public func remove(_ selection: CacheSelection) async throws(CacheError) {
        let loss = try await beginning(.remove(selection))
        try await upstream.remove(selection)
        if let loss { throw loss }
    }

    public func flush() async throws(CacheError) {
        let loss = try await beginning(.flush)
        try await upstream.flush()
        if let loss { throw loss }
    }

    public func makeFile() async throws(CacheError) -> (any CacheFileWriter)? {
        let loss = try await beginning(.makeFile)
        let writer = try await upstream.makeFile()
        if let loss { throw loss }
        return writer
    }

    public func usage() async throws(CacheError) -> CacheTierUsage {
        let loss = try await beginning(.usage)
        let usage = try await upstream.usage()
        if let loss { throw loss }
        return usage
    }

    /// Applies the part of a fault that precedes the call; returns the error to throw in place of the reply.
    private func beginning(_ call: CacheTierCall) async throws(CacheError) -> CacheError? {
        let fault = try await schedule.begin(call) {
            CacheError(.cancelled, "the call was canceled", cause: $0)
        }
        switch fault {
        case .failure(let error): throw error
        case .lostReply(let error): return error
        default: return nil
        }
    }
}

extension CacheTier {
    /// Makes calls fail as a closure says; see ``FaultInjectingCacheTier``.
    ///
    /// It returns the fault of each call; nil lets the call through. Delays are measured on `clock`.
    public func failing(
        clock: any Clock<Duration> = ContinuousClock(),
        _ fault: @escaping @Sendable (CacheTierCall) -> CacheTierFault?
    ) -> FaultInjectingCacheTier<Self> {
        FaultInjectingCacheTier(upstream: self, schedule: CallFaults(clock, fault: fault))
    }

    /// Makes the first calls fail as a list says; see ``FaultInjectingCacheTier``.
    ///
    /// In the list, nil lets a call through, as does its end. Delays are measured on `clock`.
    public func failing(
        _ faults: [CacheTierFault?],
        clock: any Clock<Duration> = ContinuousClock()
    ) -> FaultInjectingCacheTier<Self> {
        FaultInjectingCacheTier(upstream: self, schedule: CallFaults(clock, faults: faults))
    }
}
