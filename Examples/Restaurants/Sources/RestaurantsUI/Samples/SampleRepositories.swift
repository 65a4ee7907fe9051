internal import Foundation
public import RestaurantsDomain
internal import Synchronization

/// Repositories in memory, for previews and tests of screens.
///
/// They can simulate failures and delays.
public final class SampleRepositories: Sendable {
    struct State {
        var restaurants: [Restaurant]
        var favourites: [Favourite] = []
        var ratings: [Rating] = []
        var user: User?
        var place: Coordinate?
        var failure: DomainError?
        var pause: (@Sendable () async -> Void)?
        var calls: [String] = []
        var watchers: [UUID: AsyncStream<LiveUpdate<Favourite>>.Continuation] = [:]
    }

    let state: Mutex<State>

    /// Creates repositories with these restaurants, in which every call throws the failure, if there is one.
    public init(
        _ restaurants: [Restaurant] = [],
        at place: Coordinate? = nil,
        failure: DomainError? = nil
    ) {
        state = Mutex(State(restaurants: restaurants, place: place, failure: failure))
    }

    /// Repositories with restaurants around a harbour, one of them a favourite.
    public static var preview: SampleRepositories {
        let preview = SampleRepositories(
            Restaurant.samples,
            at: Coordinate(latitude: 51.21, longitude: -3.38)
        )
        preview.state.withLock { state in
            state.favourites = state.restaurants.prefix(1).map {
                Favourite(user: .onThisDevice, restaurant: $0.id, since: .distantPast)
            }
        }
        return preview
    }

    /// All use cases on these repositories.
    public var useCases: UseCases {
        UseCases(
            restaurants: self,
            favourites: self,
            ratings: self,
            changes: self,
            accounts: self,
            whereabouts: self,
            usage: self,
            now: { .distantPast }
        )
    }

    // MARK: For tests

    /// The called operations, in order.
    public var calls: [String] { state.withLock { $0.calls } }

    /// The favourites of all users.
    public var favourites: [Favourite] { state.withLock { $0.favourites } }

    /// The number of watchers of the favourites.
    public var followers: Int { state.withLock { $0.watchers.count } }

    /// Makes all later calls fail, or succeed again.
    public func fail(_ error: DomainError?) { state.withLock { $0.failure = error } }

    /// Delays all later responses.
    public func pause(_ pause: (@Sendable () async -> Void)?) {
        state.withLock { $0.pause = pause }
    }

    /// Replaces the restaurants.
    public func replace(_ restaurants: [Restaurant]) {
        state.withLock { $0.restaurants = restaurants }
    }

    // MARK: Parts

    func answer<Value>(
        _ call: String,
        _ body: (inout sending State) throws(DomainError) -> sending Value
    ) async throws(DomainError) -> Value {
        let pause = state.withLock { state in
            state.calls.append(call)
            return state.pause
        }
        await pause?()
        return try state.withLock { state throws(DomainError) in
            if let failure = state.failure { throw failure }
            return try body(&state)
        }
    }

    /// Notifies all watchers of the favourites.
    func tell(_ change: LiveUpdate<Favourite>.Change) {
        let (watchers, count) = state.withLock { (Array($0.watchers.values), $0.favourites.count) }
        for watcher in watchers { watcher.yield(LiveUpdate(count: count, changes: [change])) }
    }
}
