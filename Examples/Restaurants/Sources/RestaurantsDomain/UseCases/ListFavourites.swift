/// Lists a user's favourites by name.
public struct ListFavourites: Sendable {
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

    /// Returns the user's favourites; those whose restaurant no longer exists come last.
    public func callAsFunction(for user: UserID) async throws(DomainError) -> [FavouriteEntry] {
        let kept = try await favourites.favourites(of: user)
        let known = try await restaurants.knownRestaurants(kept.map(\.restaurant))
        let given = try await ratings.ratings(of: user)
        return kept.map { favourite in
            FavouriteEntry(
                favourite: favourite,
                restaurant: known.first { $0.id == favourite.restaurant },
                rating: given.first { $0.restaurant == favourite.restaurant }
            )
        }.sorted { $0.isListed(before: $1) }
    }
}

/// A favourite with its restaurant and rating.
public struct FavouriteEntry: Hashable, Sendable {
    /// The favourite.
    public let favourite: Favourite
    /// The restaurant; nil if it no longer exists.
    public let restaurant: Restaurant?
    /// The user's rating.
    public let rating: Rating?

    /// Creates an entry.
    public init(favourite: Favourite, restaurant: Restaurant?, rating: Rating?) {
        self.favourite = favourite
        self.restaurant = restaurant
        self.rating = rating
    }

    func isListed(before other: FavouriteEntry) -> Bool {
        switch (restaurant, other.restaurant) {
        case (let one?, let two?): one.isListed(before: two)
        case (_?, nil): true
        case (nil, _?): false
        case (nil, nil): favourite.restaurant.text < other.favourite.restaurant.text
        }
    }
}
