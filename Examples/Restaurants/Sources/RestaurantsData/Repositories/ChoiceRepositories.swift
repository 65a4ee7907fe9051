internal import KeelHTTP
internal import KeelRepositories
internal import KeelStorage
public import RestaurantsDomain

/// Favourites that are stored on this device, separately for each user, and sent to the service.
public struct StoredFavouriteRepository: FavouriteRepository {
    private let choices: Choices<StoredFavourite>

    /// Creates a repository with an outbox.
    public init(_ outbox: ChoiceOutbox) { choices = Choices(outbox: outbox) }

    public func favourites(of user: UserID) async throws(DomainError) -> [Favourite] {
        try await DomainError.mapping {
            try await choices.local(of: user).findAll().toDomain()
        }
    }

    public func favourite(
        _ restaurant: RestaurantID,
        of user: UserID
    ) async throws(DomainError) -> Favourite? {
        try await DomainError.mapping {
            try await choices.local(of: user).find(restaurant.text)?.toDomain()
        }
    }

    public func save(_ favourite: Favourite) async throws(DomainError) {
        try await choices.save(favourite, of: favourite.user)
    }

    public func remove(_ restaurant: RestaurantID, of user: UserID) async throws(DomainError) {
        try await choices.remove(restaurant, of: user)
    }

    public func updates(of user: UserID) -> LiveUpdates<Favourite> {
        choices.local(of: user).collection.updates()
    }
}

/// Ratings that are stored on this device, separately for each user, and sent to the service.
public struct StoredRatingRepository: RatingRepository {
    private let choices: Choices<StoredRating>

    /// Creates a repository with an outbox.
    public init(_ outbox: ChoiceOutbox) { choices = Choices(outbox: outbox) }

    public func ratings(of user: UserID) async throws(DomainError) -> [Rating] {
        try await DomainError.mapping {
            try await choices.local(of: user).findAll().toDomain()
        }
    }

    public func ratings(for restaurant: RestaurantID) async throws(DomainError) -> [Rating] {
        try await DomainError.mapping {
            try await choices.outbox.storage
                .collectionGroup(StoredRating.kind, as: StoredRating.self)
                .query { $0.where(.equal("restaurant", restaurant.text)) }
                .toDomain()
        }
    }

    public func save(_ rating: Rating) async throws(DomainError) {
        try await choices.save(rating, of: rating.user)
    }

    public func updates(of user: UserID) -> LiveUpdates<Rating> {
        choices.local(of: user).collection.updates()
    }
}

/// One kind of choice, stored separately for each user.
///
/// A choice of the signed-in user and its outbox entry are one batch: both are on disk or neither. Choices of other
/// users of this device are only stored.
private struct Choices<Stored: StoredChoice>: Sendable {
    let outbox: ChoiceOutbox

    func local(of user: UserID) -> CollectionDataSource<Stored> {
        CollectionDataSource(
            outbox.storage.collection("users/\(user.name)/\(Stored.kind)", as: Stored.self),
            id: { $0.restaurant }
        )
    }

    func save(_ choice: Stored.Domain, of user: UserID) async throws(DomainError) {
        if let told = try await told(of: user) {
            try await DomainError.mapping { _ = try await told.saveOffline(choice) }
        } else {
            try await DomainError.mapping {
                try await local(of: user).save(Stored(domain: choice))
            }
        }
    }

    func remove(_ restaurant: RestaurantID, of user: UserID) async throws(DomainError) {
        if let told = try await told(of: user) {
            try await DomainError.mapping { _ = try await told.deleteOffline(restaurant.text) }
        } else {
            try await DomainError.mapping {
                try await local(of: user).delete(restaurant.text)
            }
        }
    }

    /// Returns the repository that also sends choices, for the signed-in user; nil for other users.
    private func told(
        of user: UserID
    ) async throws(DomainError) -> EntityRepository<Stored.Domain>? {
        guard try await outbox.isSignedIn(user) else { return nil }
        return EntityRepository(
            Stored.kind,
            remote: RemoteEntities(),
            local: local(of: user),
            loader: ResourceLoader(),
            offline: OfflineWrites(outbox.outbox(of: user)) { change in
                switch change {
                case .save(let choice): try OutboxRequest(PutChoice(choice: choice))
                case .delete(let id): try OutboxRequest(DeleteChoice<Stored>(restaurant: id))
                }
            },
            id: { $0.restaurant }
        )
    }
}
