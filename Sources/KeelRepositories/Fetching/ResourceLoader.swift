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
/// - With a ``ResourceMemory``, what was read is read from memory as long as it is what is kept.
/// - With an `identity`, users are kept apart: see below.
/// - A background refresh is cancelled when the last copy of the loader goes.
///
/// It is a value whose copies belong together: repositories that invalidate each other's data share
/// one.
///
/// ## Several users
///
/// ```swift
/// let loader = ResourceLoader(
///     ledger: CollectionFetchLedger(storage),
///     memory: memory,
///     identity: { await session.identity }
/// )
/// session.onSignOut("memory") { _ in await memory.removeAll() }
/// ```
///
/// Memory, fetches under way and times of fetching then belong to one user each. The sources of an
/// ``EntityRepository`` hold one user's things at a time: what another user has left is removed
/// before anything is read or written, and a call that began for one user neither keeps nor returns
/// anything after another has signed in. What a ``Resource`` of your own keeps is returned only to
/// the user for whom it was fetched. Take a ledger that outlasts the process: a new one in memory
/// does not know whose things are here, and has them removed.
public struct ResourceLoader: Sendable {
    let core: ResourceCore
    private let refreshes: Refreshes

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - ledger: Remembers when things were fetched.
    ///   - memory: Remembers what was read; nil reads what is kept each time.
    ///   - identity: A name for who is signed in, such as that of an `AuthSession`, another one for
    ///     each user and one for nobody; nil where it cannot be told, and calls then fail. Leave it
    ///     out where what is loaded is the same for all.
    ///   - observer: Is told of each step of a load, in its task; it must return at once.
    ///   - now: The time of day, by which ages outlast a restart.
    public init(
        ledger: any FetchLedger = InMemoryFetchLedger(),
        memory: ResourceMemory? = nil,
        identity: (@Sendable () async -> String?)? = nil,
        observer: (@Sendable (ResourceObservation) -> Void)? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        core = ResourceCore(ledger, memory, identity, observer, now: now)
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
        try await load(ResourceRecipe { _ in resource }, policy)
    }

    func load<Value>(
        _ recipe: ResourceRecipe<Value>,
        _ policy: FetchPolicy
    ) async throws(RepositoryError) -> Fetched<Value> {
        let core = core
        let resource = try await resource(recipe)
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
            refreshes.start(resource.place) { _ = try? await core.fetch(resource) }
            return kept
        }
    }

    /// Watches a resource: what is kept, what the source says, and both again after each
    /// invalidation.
    public func observe<Value>(
        _ resource: Resource<Value>,
        _ policy: FetchPolicy = .cacheThenNetwork
    ) -> ResourceStates<Value> {
        observe(ResourceRecipe { _ in resource }, policy)
    }

    func observe<Value>(
        _ recipe: ResourceRecipe<Value>,
        _ policy: FetchPolicy
    ) -> ResourceStates<Value> {
        ResourceStates(loader: self, recipe: recipe, policy: policy)
    }

    /// Marks everything with one of these tags as out of date; who watches it loads it again.
    ///
    /// - Throws: ``RepositoryError``.
    public func invalidate(_ tags: Set<String>) async throws(RepositoryError) {
        try await RepositoryError.mapping {
            try await core.invalidate(tags)
        }
    }

    /// Changes this device's copy and marks what depends on it as out of date.
    ///
    /// While the body runs, no fetched value is kept; one that was asked for before is not kept
    /// afterwards either.
    ///
    /// - Returns: The body's result.
    /// - Throws: ``RepositoryError``.
    public func write<Value, Failure: Error>(
        invalidating tags: Set<String>,
        _ body: () async throws(Failure) -> Value
    ) async throws(RepositoryError) -> Value {
        try await RepositoryError.mapping {
            try await core.write(invalidating: tags) { () async throws(DataSourceError) in
                try await DataSourceError.local(body)
            }
        }
    }

    // MARK: Parts

    func resource<Value>(
        _ recipe: ResourceRecipe<Value>
    ) async throws(RepositoryError) -> Resource<Value> {
        try await RepositoryError.mapping {
            try await core.resource(recipe)
        }
    }

    func kept<Value>(
        _ resource: Resource<Value>,
        maxAge: Duration? = nil
    ) async throws(RepositoryError) -> Fetched<Value>? {
        try await RepositoryError.mapping {
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
