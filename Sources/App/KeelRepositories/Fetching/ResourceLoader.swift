internal import KeelCore
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Loads resources according to a policy, keeps them, and notifies observers.
///
/// - Concurrent fetches of a resource are merged.
/// - A fetch that started before an invalidation is neither kept nor returned to later callers.
///   For an ``EntityRepository`` this includes changes by other processes whose ledger is in the same store.
/// - With a ``ResourceMemory``, copies are read from memory as long as they are current.
/// - With an `identity`, users are separated.
/// - Background refreshes end with the last copy of the loader.
///
/// Repositories that invalidate each other's data must share a loader.
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
/// The sources of an ``EntityRepository`` hold one user's values at a time: those of another user are removed before
/// anything is read or written. A call that began for one user neither keeps nor returns anything after another user
/// has signed in. The copies of a custom ``Resource`` are returned only to the user for whom they were fetched. Use a
/// persistent ledger: after a launch, a ledger in memory does not know the owner of the values, so they are removed.
public struct ResourceLoader: Sendable {
    let core: ResourceCore
    private let refreshes: Refreshes

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - ledger: Stores fetch times.
    ///   - memory: A cache of copies; nil reads the store each time.
    ///   - identity: Returns a name for the signed-in user, which is different for each user and for no user; nil if
    ///     unknown, in which case calls fail. It must be the identity with which the client signs calls, such as that
    ///     of its `AuthSession`: requests of a repository, including those in an outbox, are sent only for this name.
    ///     `AuthSession.signIn(as:_:)` keeps the name the same at each sign-in. Omit it if the data is the same for all
    ///     users.
    ///   - clock: The clock for the delays of observers, which wait while the user is unknown.
    ///   - observer: Called with each step of a load; it must return immediately.
    ///   - now: Returns the time of day, for ages across launches.
    public init(
        ledger: any FetchLedger = InMemoryFetchLedger(),
        memory: ResourceMemory? = nil,
        identity: (@Sendable () async -> String?)? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        observer: (@Sendable (ResourceObservation) -> Void)? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        core = ResourceCore(ledger, memory, identity, observer, clock: clock, now: now)
        refreshes = Refreshes()
    }

    /// The number of callers that wait for fetches.
    package var waiterCount: Int { core.waiterCount }

    /// Loads a resource according to a policy.
    ///
    /// - Throws: ``RepositoryError``: `notCached` if the policy is ``FetchPolicy/cacheOnly`` and the device has no copy;
    ///   otherwise the failure of the source or the store.
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
            guard let kept = try await kept(resource) else { throw RepositoryError(.notCached) }
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

    /// Returns the states of a resource: copy and response, again after each invalidation.
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

    /// Notifies observers that another user may be signed in.
    ///
    /// ```swift
    /// for await _ in session.states { loader.userChanged() }
    /// ```
    ///
    /// Observers of another user's values drop them and load again. Otherwise, they do so once anything is loaded for
    /// the new user.
    public func userChanged() { core.userChanged() }

    /// Invalidates all resources with one of the tags; observers load them again.
    ///
    /// - Throws: ``RepositoryError`` if the fetch times cannot be changed.
    public func invalidate(_ tags: Set<String>) async throws(RepositoryError) {
        try await RepositoryError.mapping {
            try await core.invalidate(tags)
        }
    }

    /// Changes copies on the device, and invalidates resources that depend on them.
    ///
    /// No fetched value is kept while the body runs, and no fetch that began earlier is kept afterwards, even after an
    /// error.
    ///
    /// - Returns: The body's result.
    /// - Throws: The error of the body or of the invalidation, as a ``RepositoryError``.
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
            guard failure.isUnreachable, error.source == .remote else { throw failure }
            let atHand = readsKept ? try await self.kept(resource) : kept
            guard let atHand else { throw failure }
            // The user may have signed out since the request.
            try await RepositoryError.mapping {
                try await core.owners.confirm(resource.owner, in: resource.home)
            }
            return Fetched(atHand.value, .stale(age: atHand.age))
        }
    }
}

extension Fetched {
    fileprivate var age: Duration? {
        switch freshness {
        case .current: .zero
        case .cached(let age): age
        case .stale(let age): age
        }
    }
}

/// The background refreshes of a loader, one per key, canceled with it.
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
