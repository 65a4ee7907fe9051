public import KeelStorage
public import RestaurantsDomain

/// Favourites that are kept on this device, each user's apart.
public struct StoredFavouriteRepository: FavouriteRepository {
    private let choices: ChoicesLocalDataSource

    /// Creates a repository on a store.
    public init(storage: StorageClient) { choices = ChoicesLocalDataSource(storage: storage) }

    public func favourites(of user: UserID) async throws(DomainError) -> [Favourite] {
        try await DomainError.mapping { () async throws(DataSourceError) in
            let stored = try await choices.allFavourites(of: user)
            return try DataSourceError.mapping { () throws(MappingFailure) in
                try stored.map { one throws(MappingFailure) in try Favourite(one, of: user) }
            }
        }
    }

    public func favourite(
        _ restaurant: RestaurantID,
        of user: UserID
    ) async throws(DomainError) -> Favourite? {
        try await DomainError.mapping { () async throws(DataSourceError) in
            let stored = try await choices.favourite(restaurant, of: user)
            return try DataSourceError.mapping { () throws(MappingFailure) in
                try stored.map { one throws(MappingFailure) in try Favourite(one, of: user) }
            }
        }
    }

    public func save(_ favourite: Favourite) async throws(DomainError) {
        try await DomainError.mapping { () async throws(DataSourceError) in
            try await choices.save(StoredFavourite(favourite), of: favourite.user)
        }
    }

    public func remove(_ restaurant: RestaurantID, of user: UserID) async throws(DomainError) {
        try await DomainError.mapping { () async throws(DataSourceError) in
            try await choices.removeFavourite(restaurant, of: user)
        }
    }

    public func updates(of user: UserID) -> LiveUpdates<Favourite> {
        choices.favourites(of: user).updates { stored throws(MappingFailure) in
            try Favourite(stored, of: user)
        }
    }
}
