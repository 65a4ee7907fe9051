internal import KeelCore
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Loads resources as a policy says, keeps them, and tells those who watch.
///
/// - Fetches of one resource that are under way at once are one.
/// - A fetch that was begun before its resource was invalidated is neither kept nor handed to who
///   asks afterwards.
/// - A background refresh is cancelled when the last copy of the loader goes.
///
/// It is a value whose copies belong together: repositories that invalidate each other's data share
/// one.
public struct ResourceLoader: Sendable {
    let core: ResourceCore
    private let refreshes: Refreshes

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - ledger: Remembers when things were fetched.
    ///   - now: The time of day, by which ages outlast a restart.
    public init(
        ledger: any FetchLedger = InMemoryFetchLedger(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        core = ResourceCore(ledger, now: now)
        refreshes = Refreshes()
    }

    /// How many callers wait for fetches under way.
    package var waiterCount: Int { core.waiterCount }

    /// Returns a resource, from where the policy says.
    ///
    /// - Throws: ``RepositoryError``.
    public func load<Value>(
        _ resource: Resource<Value>,
        _ policy: FetchPolicy
    ) async throws(RepositoryError) -> Fetched<Value> {
        let core = core
        switch policy {
        case .cacheOnly:
            guard let kept = try await kept(resource) else { throw RepositoryError(.notKept) }
            return kept
        case .cacheFirst(let maxAge):
            let kept = try await kept(resource, maxAge: maxAge)
            if let kept, !kept.freshness.isStale { return kept }
            return try await fetched(resource, else: kept)
        case .networkFirst:
            return try await fetched(resource, else: nil, readsKept: true)
        case .networkOnly:
            return try await fetched(resource, else: nil)
        case .cacheThenNetwork:
            guard let kept = try await kept(resource) else {
                return try await fetched(resource, else: nil)
            }
            refreshes.start(resource.key) { _ = try? await core.fetch(resource) }
            return kept
        }
    }

    /// Watches a resource: what is kept, what the source says, and both again after each
    /// invalidation.
    public func observe<Value>(
        _ resource: Resource<Value>,
        _ policy: FetchPolicy = .cacheThenNetwork
    ) -> ResourceStates<Value> {
        ResourceStates(loader: self, resource: resource, policy: policy)
    }

    /// Marks everything with one of these tags as out of date; who watches it loads it again.
    ///
    /// - Throws: ``RepositoryError``.
    public func invalidate(_ tags: Set<String>) async throws(RepositoryError) {
        try await RepositoryError.mapping { () async throws(DataSourceError) in
            try await core.invalidate(tags)
        }
    }

    /// Changes this device's copy and marks what depends on it as out of date.
    ///
    /// While the body runs, no fetched value is kept; one that was asked for before is not kept
    /// afterwards either.
    ///
    /// - Returns: What the body returned.
    /// - Throws: ``RepositoryError``.
    public func write<Value>(
        invalidating tags: Set<String>,
        _ body: () async throws(DataSourceError) -> Value
    ) async throws(RepositoryError) -> Value {
        try await RepositoryError.mapping { () async throws(DataSourceError) in
            try await core.write(invalidating: tags, body)
        }
    }

    // MARK: Parts

    func kept<Value>(
        _ resource: Resource<Value>,
        maxAge: Duration? = nil
    ) async throws(RepositoryError) -> Fetched<Value>? {
        try await RepositoryError.mapping { () async throws(DataSourceError) in
            try await core.kept(resource, maxAge: maxAge)
        }
    }

    func fetched<Value>(
        _ resource: Resource<Value>,
        else kept: Fetched<Value>?,
        readsKept: Bool = false
    ) async throws(RepositoryError) -> Fetched<Value> {
        do throws(DataSourceError) {
            return Fetched(try await core.fetch(resource), .current)
        } catch {
            let failure = RepositoryError(error)
            guard failure.isReachability, error.source == .remote else { throw failure }
            let atHand = readsKept ? try await self.kept(resource) : kept
            guard let atHand else { throw failure }
            return Fetched(atHand.value, .stale(age: atHand.age))
        }
    }
}

extension Fetched {
    fileprivate var age: Duration? {
        switch freshness {
        case .current: .zero
        case .kept(let age): age
        case .stale(let age): age
        }
    }
}

/// The background refreshes of a loader, one for each key, which end with it.
private final class Refreshes: Sendable {
    private struct State {
        var tasks: [String: (ticket: Int, task: Task<Void, Never>)] = [:]
        var lastTicket = 0
    }

    private let state = Mutex(State())

    deinit {
        for entry in state.withLock({ $0.tasks.values }) { entry.task.cancel() }
    }

    func start(_ key: String, _ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard state.tasks[key] == nil else { return }
            state.lastTicket += 1
            let ticket = state.lastTicket
            let task = Task { [weak self] in
                await work()
                self?.finish(key, ticket)
            }
            state.tasks[key] = (ticket, task)
        }
    }

    private func finish(_ key: String, _ ticket: Int) {
        state.withLock { state in
            if state.tasks[key]?.ticket == ticket { state.tasks[key] = nil }
        }
    }
}
