import RestaurantsDomain
import Synchronization

/// Repositories for tests of the domain without Keel.
final class InMemoryRepositories: Sendable {
    private struct State {
        var restaurants: [RestaurantID: Restaurant] = [:]
        var favourites: [Favourite] = []
        var ratings: [Rating] = []
        var user: User?
        var changes: [PendingChange] = []
        var retried: [String] = []
        var place: Coordinate?
    }

    private let state: Mutex<State>

    init(_ restaurants: [Restaurant]) {
        let known = Dictionary(restaurants.map { ($0.id, $0) }) { first, _ in first }
        state = Mutex(State(restaurants: known))
    }

    var favourites: [Favourite] { state.withLock { $0.favourites } }
    var ratings: [Rating] { state.withLock { $0.ratings } }
    var retried: [String] { state.withLock { $0.retried } }

    func set(_ place: Coordinate?) { state.withLock { $0.place = place } }
    func set(_ changes: [PendingChange]) { state.withLock { $0.changes = changes } }
}

extension InMemoryRepositories: RestaurantRepository {
    func restaurants(_ filter: RestaurantFilter) async throws(DomainError) -> [Restaurant] {
        state.withLock { state in
            state.restaurants.values.filter { restaurant in
                (filter.borough ?? restaurant.borough) == restaurant.borough
                    && (filter.cuisine ?? restaurant.cuisine) == restaurant.cuisine
            }
        }
    }

    func restaurant(_ id: RestaurantID) async throws(DomainError) -> Restaurant {
        guard let restaurant = state.withLock({ $0.restaurants[id] }) else {
            throw DomainError(.restaurantNotFound(id))
        }
        return restaurant
    }

    func knownRestaurants(_ ids: [RestaurantID]) async throws(DomainError) -> [Restaurant] {
        state.withLock { state in ids.compactMap { state.restaurants[$0] } }
    }

    func search(_ words: String, limit: Int) async throws(DomainError) -> [Restaurant] {
        state.withLock { state in
            state.restaurants.values.filter { $0.listingKey.contains(words.lowercased()) }
        }
    }

    func refresh() async throws(DomainError) -> RefreshReport {
        RefreshReport(
            added: 0,
            updated: 0,
            removed: 0,
            unchanged: state.withLock { $0.restaurants.count }
        )
    }

    func updates() -> LiveUpdates<Restaurant> {
        .prepared([LiveUpdate(count: state.withLock { $0.restaurants.count }, changes: nil)])
    }
}

extension InMemoryRepositories: FavouriteRepository {
    func favourites(of user: UserID) async throws(DomainError) -> [Favourite] {
        favourites.filter { $0.user == user }
    }

    func favourite(
        _ restaurant: RestaurantID,
        of user: UserID
    ) async throws(DomainError) -> Favourite? {
        favourites.first { $0.user == user && $0.restaurant == restaurant }
    }

    func save(_ favourite: Favourite) async throws(DomainError) {
        try await remove(favourite.restaurant, of: favourite.user)
        state.withLock { $0.favourites.append(favourite) }
    }

    func remove(_ restaurant: RestaurantID, of user: UserID) async throws(DomainError) {
        state.withLock { state in
            state.favourites.removeAll { $0.user == user && $0.restaurant == restaurant }
        }
    }

    func updates(of user: UserID) -> LiveUpdates<Favourite> {
        .prepared(
            [LiveUpdate(count: 0, changes: nil)]
                + favourites.map { LiveUpdate(count: 1, changes: [.added($0)]) }
        )
    }
}

extension InMemoryRepositories: RatingRepository {
    func ratings(of user: UserID) async throws(DomainError) -> [Rating] {
        ratings.filter { $0.user == user }
    }

    func ratings(for restaurant: RestaurantID) async throws(DomainError) -> [Rating] {
        ratings.filter { $0.restaurant == restaurant }
    }

    func save(_ rating: Rating) async throws(DomainError) {
        state.withLock { state in
            state.ratings.removeAll {
                $0.user == rating.user && $0.restaurant == rating.restaurant
            }
            state.ratings.append(rating)
        }
    }

    func updates(of user: UserID) -> LiveUpdates<Rating> {
        .prepared([LiveUpdate(count: ratings.count, changes: nil)])
    }
}

extension InMemoryRepositories: PendingChangeRepository {
    func changes(of user: UserID) async throws(DomainError) -> [PendingChange] {
        state.withLock { $0.changes }
    }

    func retry(_ change: PendingChange, of user: UserID) async throws(DomainError) {
        state.withLock { $0.retried.append(change.id) }
    }

    func discard(_ change: PendingChange, of user: UserID) async throws(DomainError) {
        state.withLock { state in state.changes.removeAll { $0.id == change.id } }
    }
}

extension InMemoryRepositories: WhereaboutsRepository {
    func currentPlace() async throws(DomainError) -> Coordinate {
        guard let place = state.withLock({ $0.place }) else {
            throw DomainError(.locationUnknown)
        }
        return place
    }
}

extension InMemoryRepositories: AccountRepository {
    func signIn(_ email: EmailAddress, password: String) async throws(DomainError) -> User {
        guard password == "engine" else { throw DomainError(.wrongPassword) }
        let user = User(id: try UserID("ada"), name: "Ada Lovelace", email: email)
        state.withLock { $0.user = user }
        return user
    }

    func signOut() async throws(DomainError) -> User? { state.withLock { $0.user.take() } }

    func signedInUser() async throws(DomainError) -> User? { state.withLock { $0.user } }

    func currentUser() async throws(DomainError) -> User {
        guard let user = try await signedInUser() else { throw DomainError(.notSignedIn) }
        return user
    }
}

extension LiveUpdates where Item: Sendable {
    /// Sends prepared updates, then waits until the task is canceled.
    static func prepared(_ updates: [LiveUpdate<Item>]) -> LiveUpdates {
        LiveUpdates {
            var rest = updates[...]
            return { () async throws(DomainError) in
                if let update = rest.popFirst() { return update }
                for await _ in AsyncStream<Never>.makeStream().stream {}
                return nil
            }
        }
    }
}
