internal import Foundation
public import RestaurantsDomain
internal import Synchronization

/// Restaurants in memory, for previews and for tests of screens.
///
/// It can be told to fail, and to wait before it answers.
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

    /// Creates repositories.
    ///
    /// - Parameters:
    ///   - restaurants: The restaurants of the repository.
    ///   - place: Where the device is.
    ///   - failure: The error that every call throws; nil for none.
    public init(
        _ restaurants: [Restaurant] = [],
        at place: Coordinate? = nil,
        failure: DomainError? = nil
    ) {
        state = Mutex(State(restaurants: restaurants, place: place, failure: failure))
    }

    /// Some restaurants around a harbour, one of them a favourite.
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

    /// The operations that were asked for, in their order.
    public var calls: [String] { state.withLock { $0.calls } }

    /// The favourites, whoever has them.
    public var favourites: [Favourite] { state.withLock { $0.favourites } }

    /// How many follow the favourites.
    public var followers: Int { state.withLock { $0.watchers.count } }

    /// Fails from now on, or answers again.
    public func fail(_ error: DomainError?) { state.withLock { $0.failure = error } }

    /// Waits before each answer from now on.
    public func pause(_ pause: (@Sendable () async -> Void)?) {
        state.withLock { $0.pause = pause }
    }

    /// Has other restaurants from now on.
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

    /// Tells all who follow the favourites.
    func tell(_ change: LiveUpdate<Favourite>.Change) {
        let (watchers, count) = state.withLock { (Array($0.watchers.values), $0.favourites.count) }
        for watcher in watchers { watcher.yield(LiveUpdate(count: count, changes: [change])) }
    }
}
