internal import Foundation
internal import RestaurantsDomain

/// A favourite as it is kept: `users/{user}/favourites/{restaurant}`.
struct StoredFavourite: Codable, Hashable, Sendable {
    var restaurant: String
    var since: Date

    init(_ favourite: Favourite) {
        restaurant = favourite.restaurant.text
        since = favourite.since
    }
}

extension Favourite {
    init(_ stored: StoredFavourite, of user: UserID) throws(MappingFailure) {
        let id = try RestaurantID(mapping: stored.restaurant)
        self.init(user: user, restaurant: id, since: stored.since)
    }
}

/// A rating as it is kept: `users/{user}/ratings/{restaurant}`.
///
/// The user is named inside too, for queries over the ratings of all users.
struct StoredRating: Codable, Hashable, Sendable {
    var user: String
    var restaurant: String
    var stars: Int
    var date: Date

    init(_ rating: Rating) {
        user = rating.user.name
        restaurant = rating.restaurant.text
        stars = rating.stars.count
        date = rating.date
    }
}

extension Rating {
    init(_ stored: StoredRating) throws(MappingFailure) {
        let id = try RestaurantID(mapping: stored.restaurant)
        do throws(DomainError) {
            self.init(
                user: try UserID(stored.user),
                restaurant: id,
                stars: try Stars(stored.stars),
                date: stored.date
            )
        } catch {
            let reason = error.errorDescription ?? "\(error.kind)"
            throw MappingFailure(id: stored.restaurant, "a rating", .unreadable(reason))
        }
    }
}
