public import KeelStorage
public import RestaurantsDomain

/// Ratings that are kept on this device, each user's apart.
public struct StoredRatingRepository: RatingRepository {
    private let choices: ChoicesLocalDataSource

    /// Creates a repository on a store.
    public init(storage: StorageClient) { choices = ChoicesLocalDataSource(storage: storage) }

    public func ratings(of user: UserID) async throws(DomainError) -> [Rating] {
        try await read { () async throws(DataSourceError) in
            try await choices.allRatings(of: user)
        }
    }

    public func ratings(for restaurant: RestaurantID) async throws(DomainError) -> [Rating] {
        try await read { () async throws(DataSourceError) in
            try await choices.ratings(for: restaurant)
        }
    }

    public func save(_ rating: Rating) async throws(DomainError) {
        try await DomainError.mapping { () async throws(DataSourceError) in
            try await choices.save(StoredRating(rating), of: rating.user)
        }
    }

    public func updates(of user: UserID) -> LiveUpdates<Rating> {
        choices.ratings(of: user).updates { stored throws(MappingFailure) in try Rating(stored) }
    }

    private func read(
        _ operation: () async throws(DataSourceError) -> [StoredRating]
    ) async throws(DomainError) -> [Rating] {
        try await DomainError.mapping { () async throws(DataSourceError) in
            let stored = try await operation()
            return try DataSourceError.mapping { () throws(MappingFailure) in
                try stored.map { one throws(MappingFailure) in try Rating(one) }
            }
        }
    }
}
