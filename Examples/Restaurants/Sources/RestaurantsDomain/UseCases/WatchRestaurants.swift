/// Delivers changes to a user, whether they are made by this program or by another on the same device.
public struct WatchRestaurants: Sendable {
    /// The receiver's decision after an event.
    public enum Wish: Sendable {
        case more
        case enough
    }

    /// The number of simultaneous changes from which restaurants are counted instead of named.
    public static let many = 4

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

    /// Delivers a user's events until the receiver stops, or the task is canceled.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - receive: Receives the events one after the other, beginning with
    ///     ``LiveEvent/began(restaurants:favourites:ratings:)``.
    /// - Throws: ``DomainError`` if one of the sources can no longer be followed.
    public func callAsFunction(
        for user: UserID,
        _ receive: @escaping @Sendable (LiveEvent) -> Wish
    ) async throws(DomainError) {
        let teller = LiveTeller(receive)
        let outcome = await withTaskGroup(of: Result<Void, DomainError>.self) { group in
            group.addTask {
                await follow(restaurants.updates(), .restaurants, telling: teller) {
                    changes throws(DomainError) in events(ofRestaurants: changes)
                }
            }
            group.addTask {
                await follow(favourites.updates(of: user), .favourites, telling: teller) {
                    changes throws(DomainError) in try await events(ofFavourites: changes)
                }
            }
            group.addTask {
                await follow(ratings.updates(of: user), .ratings, telling: teller) {
                    changes throws(DomainError) in try await events(ofRatings: changes)
                }
            }
            // The first to end, by request or failure, ends the others.
            let first = await group.next() ?? .success(())
            group.cancelAll()
            return first
        }
        try outcome.get()
    }

    private func follow<Item>(
        _ updates: LiveUpdates<Item>,
        _ source: LiveTeller.Source,
        telling teller: LiveTeller,
        _ events: ([LiveUpdate<Item>.Change]) async throws(DomainError) -> [LiveEvent]
    ) async -> Result<Void, DomainError> {
        do throws(DomainError) {
            for try await update in updates {
                let wish =
                    if let changes = update.changes {
                        await teller.tell(try await events(changes))
                    } else {
                        await teller.begin(source, count: update.count)
                    }
                guard wish == .more else { break }
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    // MARK: From changes to events

    private func events(ofRestaurants changes: [LiveUpdate<Restaurant>.Change]) -> [LiveEvent] {
        guard changes.count < Self.many else {
            var (added, changed, removed) = (0, 0, 0)
            for change in changes {
                switch change {
                case .added: added += 1
                case .changed: changed += 1
                case .removed: removed += 1
                }
            }
            return [.many(added: added, changed: changed, removed: removed)]
        }
        return changes.map { change in
            switch change {
            case .added(let restaurant): .added(RestaurantName(restaurant))
            case .changed(let restaurant): .changed(RestaurantName(restaurant))
            case .removed(let restaurant): .removed(RestaurantName(restaurant))
            }
        }
    }

    private func events(
        ofFavourites changes: [LiveUpdate<Favourite>.Change]
    ) async throws(DomainError) -> [LiveEvent] {
        var events: [LiveEvent] = []
        for change in changes {
            switch change {
            case .added(let favourite), .changed(let favourite):
                events.append(.favourited(try await name(of: favourite.restaurant)))
            case .removed(let favourite):
                events.append(.unfavourited(try await name(of: favourite.restaurant)))
            }
        }
        return events
    }

    private func events(
        ofRatings changes: [LiveUpdate<Rating>.Change]
    ) async throws(DomainError) -> [LiveEvent] {
        var events: [LiveEvent] = []
        for change in changes {
            switch change {
            case .added(let rating), .changed(let rating):
                events.append(.rated(try await name(of: rating.restaurant), rating.stars))
            case .removed(let rating):
                events.append(.unrated(try await name(of: rating.restaurant)))
            }
        }
        return events
    }

    private func name(of id: RestaurantID) async throws(DomainError) -> RestaurantName {
        let known = try await restaurants.knownRestaurants([id])
        return RestaurantName(id: id, name: known.first?.name)
    }
}
