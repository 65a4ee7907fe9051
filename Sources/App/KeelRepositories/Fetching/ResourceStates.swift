internal import KeelCore
internal import KeelStorage

/// The state of a resource, for a view.
public enum ResourceState<Value: Sendable>: Sendable {
    /// Loading; `last` is the previous value, if any.
    case loading(last: Value?)
    /// Loaded.
    case loaded(Value, Freshness)
    /// Failed; `last` is the previous value, if any.
    case failed(RepositoryError, last: Value?)

    /// The value to show.
    public var value: Value? {
        switch self {
        case .loading(let last), .failed(_, let last): last
        case .loaded(let value, _): value
        }
    }

    /// The error, if the last attempt failed.
    public var error: RepositoryError? {
        if case .failed(let error, _) = self { error } else { nil }
    }
}

extension ResourceState: Equatable where Value: Equatable {
    public static func == (one: Self, other: Self) -> Bool {
        switch (one, other) {
        case (.loading(let one), .loading(let other)): one == other
        case (.loaded(let one, let age), .loaded(let other, let otherAge)):
            one == other && age == otherAge
        case (.failed(let error, let one), .failed(let otherError, let other)):
            error.code == otherError.code && one == other
        default: false
        }
    }
}

/// The states of a resource as they change; see ``ResourceLoader/observe(_:_:)``.
///
/// The work ends with the reading task. A slow reader loads later.
public struct ResourceStates<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = ResourceState<Value>
    public typealias Failure = Never

    let loader: ResourceLoader
    let recipe: ResourceRecipe<Value>
    let policy: FetchPolicy

    public func makeAsyncIterator() -> Iterator {
        Iterator(loader: loader, recipe: recipe, policy: policy)
    }

    /// An iterator over the states.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Step { case announce, readKept, fetch, wait }

        private let loader: ResourceLoader
        private let recipe: ResourceRecipe<Value>
        private var resource: Resource<Value>
        private let policy: FetchPolicy
        private var step = Step.announce
        private var last: Value?
        private var epoch = 0
        private var userChanges = 0
        /// The number of consecutive failures to find the signed-in user.
        private var ownerFailures = 0
        /// The copy, for when the source is unreachable.
        private var kept: Fetched<Value>?

        init(loader: ResourceLoader, recipe: ResourceRecipe<Value>, policy: FetchPolicy) {
            self.loader = loader
            self.recipe = recipe
            resource = recipe.resource(for: nil)
            self.policy = policy
        }

        /// Waits for the next state; returns nil if the task is canceled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> ResourceState<Value>? {
            while !Task.isCancelled {
                switch step {
                case .announce:
                    // Read first, so that later invalidations cause another load.
                    epoch = loader.core.epoch(of: resource.tags)
                    userChanges = loader.core.userChangeCount
                    if let failure = await findOwner() { return ended(failure) }
                    step = .readKept
                    return .loading(last: last)
                case .readKept:
                    if let state = await readKept() { return ended(state) }
                case .fetch:
                    step = .wait
                    return ended(await fetch())
                case .wait:
                    if ownerFailures > 0 { await waitForOwner() } else { await waitForChange() }
                    step = .announce
                }
            }
            return nil
        }

        /// Suppresses the failure of a canceled reader.
        private func ended(_ state: ResourceState<Value>) -> ResourceState<Value>? {
            if case .failed(let error, _) = state, error.isCancellation, Task.isCancelled {
                return nil
            }
            return state
        }

        /// Makes the resource for the signed-in user, and discards another user's value.
        private mutating func findOwner() async -> ResourceState<Value>? {
            do throws(RepositoryError) {
                let owner = resource.owner
                ownerFailures += 1
                resource = try await loader.resource(recipe)
                if resource.owner != owner {
                    last = nil
                    kept = nil
                }
                ownerFailures = 0
                return nil
            } catch {
                last = nil
                step = .wait
                return .failed(error, last: nil)
            }
        }

        private mutating func readKept() async -> ResourceState<Value>? {
            step = .fetch
            var maxAge: Duration?
            switch policy {
            case .networkFirst, .networkOnly: return nil
            case .cacheFirst(let limit): maxAge = limit
            case .cacheOnly, .cacheThenNetwork: break
            }
            do throws(RepositoryError) {
                kept = try await loader.kept(resource, maxAge: maxAge)
            } catch {
                if policy == .cacheOnly { step = .wait }
                return await failed(error)
            }
            if policy == .cacheOnly { step = .wait }
            guard let kept else {
                return policy == .cacheOnly
                    ? .failed(RepositoryError(.notCached), last: nil) : nil
            }
            if case .cacheFirst = policy {
                // A copy that is too old is shown only if the fetch fails.
                if kept.freshness.isStale { return nil }
                step = .wait
            }
            last = kept.value
            return .loaded(kept.value, kept.freshness)
        }

        private mutating func fetch() async -> ResourceState<Value> {
            do throws(RepositoryError) {
                // With `cacheThenNetwork` the copy is already shown: only the failure is new.
                let isShown = policy == .cacheThenNetwork
                let fetched = try await loader.fetched(
                    resource,
                    else: isShown ? nil : kept,
                    readsKept: policy == .networkFirst
                )
                last = fetched.value
                return .loaded(fetched.value, fetched.freshness)
            } catch {
                return await failed(error)
            }
        }

        /// Returns the state after a failure, without the value of a user who has signed out since.
        private mutating func failed(_ error: RepositoryError) async -> ResourceState<Value> {
            if await !isSignedIn() {
                last = nil
                step = .announce
            }
            return .failed(error, last: last)
        }

        private mutating func waitForChange() async {
            let core = loader.core
            while !Task.isCancelled {
                let generation = core.signal.generation
                guard core.epoch(of: resource.tags) == epoch else { return }
                let changes = core.userChangeCount
                if changes != userChanges {
                    guard await isSignedIn() else { return }
                    userChanges = changes
                }
                await core.signal.wait(since: generation)
            }
        }

        private func isSignedIn() async -> Bool {
            do throws(DataSourceError) {
                return try await loader.core.owners.current() == resource.owner
            } catch {
                return false
            }
        }

        private mutating func waitForOwner() async {
            let core = loader.core
            while !Task.isCancelled {
                let generation = core.signal.generation
                guard core.epoch(of: resource.tags) == epoch, core.userChangeCount == userChanges
                else { return }
                let pause = Duration.seconds(1 << Swift.min(ownerFailures - 1, 6))
                await core.signal.wait(since: generation, upTo: pause, on: core.clock)
                do throws(DataSourceError) {
                    _ = try await core.owners.current()
                    return
                } catch {
                    ownerFailures += 1
                }
            }
        }
    }
}

@available(*, unavailable)
extension ResourceStates.Iterator: Sendable {}
