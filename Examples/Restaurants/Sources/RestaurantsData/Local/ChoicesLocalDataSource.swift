internal import KeelStorage
internal import RestaurantsDomain

/// What users have chosen, each user's in a place of its own.
struct ChoicesLocalDataSource: Sendable {
    let storage: StorageClient

    // MARK: Favourites

    func favourites(of user: UserID) -> DocumentCollection<StoredFavourite> {
        storage.collection("users/\(user.name)/favourites", as: StoredFavourite.self)
    }

    func allFavourites(of user: UserID) async throws(DataSourceError) -> [StoredFavourite] {
        try await DataSourceError.local { () async throws(StorageError) in
            try await favourites(of: user).findAll()
        }
    }

    func favourite(
        _ restaurant: RestaurantID,
        of user: UserID
    ) async throws(DataSourceError) -> StoredFavourite? {
        try await DataSourceError.local { () async throws(StorageError) in
            try await favourites(of: user).find(restaurant.text)
        }
    }

    func save(_ favourite: StoredFavourite, of user: UserID) async throws(DataSourceError) {
        try await DataSourceError.local { () async throws(StorageError) in
            _ = try await favourites(of: user).save(favourite, id: favourite.restaurant)
        }
    }

    func removeFavourite(
        _ restaurant: RestaurantID,
        of user: UserID
    ) async throws(DataSourceError) {
        try await DataSourceError.local { () async throws(StorageError) in
            _ = try await favourites(of: user).delete(restaurant.text)
        }
    }

    // MARK: Ratings

    func ratings(of user: UserID) -> DocumentCollection<StoredRating> {
        storage.collection("users/\(user.name)/ratings", as: StoredRating.self)
    }

    func allRatings(of user: UserID) async throws(DataSourceError) -> [StoredRating] {
        try await DataSourceError.local { () async throws(StorageError) in
            try await ratings(of: user).findAll()
        }
    }

    /// The ratings of all users for one restaurant.
    func ratings(for restaurant: RestaurantID) async throws(DataSourceError) -> [StoredRating] {
        try await DataSourceError.local { () async throws(StorageError) in
            let query = DocumentQuery(group: "ratings")
                .where(.equal("restaurant", .string(restaurant.text)))
            let decoder = DocumentDecoder()
            return try await storage.queryDocuments(query).map { document throws(StorageError) in
                try decoder.decode(StoredRating.self, from: document)
            }
        }
    }

    func save(_ rating: StoredRating, of user: UserID) async throws(DataSourceError) {
        try await DataSourceError.local { () async throws(StorageError) in
            _ = try await ratings(of: user).save(rating, id: rating.restaurant)
        }
    }
}
