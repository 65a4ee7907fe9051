internal import Logging
public import RestaurantsDomain

/// A repository of favourites that logs every operation.
public struct LoggedFavouriteRepository<Upstream: FavouriteRepository>: FavouriteRepository {
    private let upstream: Upstream
    private let log: RepositoryLog

    /// Creates a logging repository around another.
    public init(_ upstream: Upstream, _ log: RepositoryLog) {
        self.upstream = upstream
        self.log = log
    }

    public func favourites(of user: UserID) async throws(DomainError) -> [Favourite] {
        try await log.run(
            "favourites.list",
            about: ["user": "\(user)"],
            outcome: { ["count": "\($0.count)"] },
            of: { () async throws(DomainError) in try await upstream.favourites(of: user) }
        )
    }

    public func favourite(
        _ restaurant: RestaurantID,
        of user: UserID
    ) async throws(DomainError) -> Favourite? {
        try await log.run("favourites.find", about: ["user": "\(user)", "id": "\(restaurant)"]) {
            () async throws(DomainError) in try await upstream.favourite(restaurant, of: user)
        }
    }

    public func save(_ favourite: Favourite) async throws(DomainError) {
        try await log.run(
            "favourites.save",
            .info,
            about: ["user": "\(favourite.user)", "id": "\(favourite.restaurant)"]
        ) { () async throws(DomainError) in try await upstream.save(favourite) }
    }

    public func remove(_ restaurant: RestaurantID, of user: UserID) async throws(DomainError) {
        try await log.run(
            "favourites.remove",
            .info,
            about: ["user": "\(user)", "id": "\(restaurant)"]
        ) { () async throws(DomainError) in try await upstream.remove(restaurant, of: user) }
    }

    public func updates(of user: UserID) -> LiveUpdates<Favourite> { upstream.updates(of: user) }
}

/// A repository of ratings that logs every operation.
public struct LoggedRatingRepository<Upstream: RatingRepository>: RatingRepository {
    private let upstream: Upstream
    private let log: RepositoryLog

    /// Creates a logging repository around another.
    public init(_ upstream: Upstream, _ log: RepositoryLog) {
        self.upstream = upstream
        self.log = log
    }

    public func ratings(of user: UserID) async throws(DomainError) -> [Rating] {
        try await log.run(
            "ratings.list",
            about: ["user": "\(user)"],
            outcome: { ["count": "\($0.count)"] },
            of: { () async throws(DomainError) in try await upstream.ratings(of: user) }
        )
    }

    public func ratings(for restaurant: RestaurantID) async throws(DomainError) -> [Rating] {
        try await log.run(
            "ratings.list",
            about: ["id": "\(restaurant)"],
            outcome: { ["count": "\($0.count)"] },
            of: { () async throws(DomainError) in try await upstream.ratings(for: restaurant) }
        )
    }

    public func save(_ rating: Rating) async throws(DomainError) {
        try await log.run(
            "ratings.save",
            .info,
            about: ["user": "\(rating.user)", "id": "\(rating.restaurant)"]
        ) { () async throws(DomainError) in try await upstream.save(rating) }
    }

    public func updates(of user: UserID) -> LiveUpdates<Rating> { upstream.updates(of: user) }
}
