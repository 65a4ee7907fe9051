/// Shows the details of a restaurant to a user.
public struct ShowRestaurant: Sendable {
    private let restaurants: any RestaurantRepository
    private let favourites: any FavouriteRepository
    private let ratings: any RatingRepository

    /// Creates the use case.
    public init(
        restaurants: any RestaurantRepository,
        favourites: any FavouriteRepository,
        ratings: any RatingRepository
    ) {
        self.restaurants = restaurants
        self.favourites = favourites
        self.ratings = ratings
    }

    /// Returns a restaurant with the user's choices and the rating by all users.
    public func callAsFunction(
        _ id: RestaurantID,
        for user: UserID
    ) async throws(DomainError) -> RestaurantDetails {
        let restaurant = try await restaurants.restaurant(id)
        let given = try await ratings.ratings(for: id)
        return RestaurantDetails(
            restaurant: restaurant,
            favourite: try await favourites.favourite(id, of: user),
            ownRating: given.first { $0.user == user },
            summary: RatingSummary(given)
        )
    }

    /// Returns restaurants in the order of their ids, all of which are loaded concurrently.
    ///
    /// - Throws: ``DomainError`` of the first restaurant that cannot be shown.
    public func callAsFunction(
        _ ids: [RestaurantID],
        for user: UserID
    ) async throws(DomainError) -> [RestaurantDetails] {
        let results = await withTaskGroup(
            of: (index: Int, result: Result<RestaurantDetails, DomainError>).self
        ) { group in
            for (index, id) in ids.enumerated() {
                group.addTask { (index: index, result: await result(id, for: user)) }
            }
            var arrived: [Int: Result<RestaurantDetails, DomainError>] = [:]
            for await one in group { arrived[one.index] = one.result }
            return arrived
        }
        var details: [RestaurantDetails] = []
        for index in ids.indices {
            if let result = results[index] { details.append(try result.get()) }
        }
        return details
    }

    private func result(
        _ id: RestaurantID,
        for user: UserID
    ) async -> Result<RestaurantDetails, DomainError> {
        do throws(DomainError) {
            return .success(try await self(id, for: user))
        } catch {
            return .failure(error)
        }
    }
}

/// A restaurant as one user sees it.
public struct RestaurantDetails: Hashable, Sendable {
    /// The restaurant.
    public let restaurant: Restaurant
    /// The user's favourite; nil if the restaurant is not one.
    public let favourite: Favourite?
    /// The user's rating.
    public let ownRating: Rating?
    /// The rating by all users.
    public let summary: RatingSummary?

    /// Creates details.
    public init(
        restaurant: Restaurant,
        favourite: Favourite?,
        ownRating: Rating?,
        summary: RatingSummary?
    ) {
        self.restaurant = restaurant
        self.favourite = favourite
        self.ownRating = ownRating
        self.summary = summary
    }
}
