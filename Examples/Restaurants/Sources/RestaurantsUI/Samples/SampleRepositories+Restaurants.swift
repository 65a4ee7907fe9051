internal import Foundation
public import RestaurantsDomain
internal import Synchronization

extension SampleRepositories: RestaurantRepository {
    public func restaurants(_ filter: RestaurantFilter) async throws(DomainError) -> [Restaurant] {
        try await answer("list") { $0.restaurants }
    }

    public func restaurant(_ id: RestaurantID) async throws(DomainError) -> Restaurant {
        try await answer("show") { state throws(DomainError) in
            guard let found = state.restaurants.first(where: { $0.id == id }) else {
                throw DomainError(.restaurantNotFound(id))
            }
            return found
        }
    }

    public func knownRestaurants(_ ids: [RestaurantID]) async throws(DomainError) -> [Restaurant] {
        try await answer("known") { $0.restaurants.filter { ids.contains($0.id) } }
    }

    public func search(_ words: String, limit: Int) async throws(DomainError) -> [Restaurant] {
        try await answer("search \(words)") { state in
            let wanted = words.lowercased().split(separator: " ")
            let found = state.restaurants.filter { restaurant in
                wanted.allSatisfy { restaurant.listingKey.contains($0) }
            }
            return Array(found.prefix(limit))
        }
    }

    public func refresh() async throws(DomainError) -> RefreshReport {
        try await answer("refresh") { state in
            RefreshReport(added: 0, updated: 0, removed: 0, unchanged: state.restaurants.count)
        }
    }

    public func updates() -> LiveUpdates<Restaurant> {
        let count = state.withLock { $0.restaurants.count }
        return LiveUpdates(standing: count)
    }
}

extension SampleRepositories: FavouriteRepository {
    public func favourites(of user: UserID) async throws(DomainError) -> [Favourite] {
        try await answer("favourites") { $0.favourites.filter { $0.user == user } }
    }

    public func favourite(
        _ restaurant: RestaurantID,
        of user: UserID
    ) async throws(DomainError) -> Favourite? {
        try await answer("favourite") { state in
            state.favourites.first { $0.user == user && $0.restaurant == restaurant }
        }
    }

    public func save(_ favourite: Favourite) async throws(DomainError) {
        try await answer("like") { $0.favourites.append(favourite) }
        tell(.added(favourite))
    }

    public func remove(_ restaurant: RestaurantID, of user: UserID) async throws(DomainError) {
        let gone = try await answer("unlike") { state in
            let gone = state.favourites.filter { $0.user == user && $0.restaurant == restaurant }
            state.favourites.removeAll { gone.contains($0) }
            return gone
        }
        for favourite in gone { tell(.removed(favourite)) }
    }

    public func updates(of user: UserID) -> LiveUpdates<Favourite> {
        LiveUpdates { [self] in
            let (stream, teller) = AsyncStream.makeStream(of: LiveUpdate<Favourite>.self)
            let watcher = UUID()
            teller.onTermination = { [weak self] _ in
                self?.state.withLock { $0.watchers[watcher] = nil }
            }
            state.withLock { state in
                state.watchers[watcher] = teller
                teller.yield(LiveUpdate(count: state.favourites.count, changes: nil))
            }
            var updates = stream.makeAsyncIterator()
            return { () async throws(DomainError) in await updates.next(isolation: #isolation) }
        }
    }
}

extension SampleRepositories: RatingRepository {
    public func ratings(of user: UserID) async throws(DomainError) -> [Rating] {
        try await answer("ratings") { $0.ratings.filter { $0.user == user } }
    }

    public func ratings(for restaurant: RestaurantID) async throws(DomainError) -> [Rating] {
        try await answer("ratings") { $0.ratings.filter { $0.restaurant == restaurant } }
    }

    public func save(_ rating: Rating) async throws(DomainError) {
        try await answer("rate") { state in
            state.ratings.removeAll {
                $0.user == rating.user && $0.restaurant == rating.restaurant
            }
            state.ratings.append(rating)
        }
    }

    public func updates(of user: UserID) -> LiveUpdates<Rating> {
        LiveUpdates(standing: 0)
    }
}

extension LiveUpdates {
    /// Creates updates with the current state and no changes, which last until the task is canceled.
    fileprivate init(standing count: Int) {
        self.init {
            let (stream, teller) = AsyncStream.makeStream(of: LiveUpdate<Item>.self)
            teller.yield(LiveUpdate(count: count, changes: nil))
            var updates = stream.makeAsyncIterator()
            return { () async throws(DomainError) in await updates.next(isolation: #isolation) }
        }
    }
}
