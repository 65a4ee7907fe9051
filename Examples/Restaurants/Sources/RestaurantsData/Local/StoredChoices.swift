internal import Foundation
internal import KeelRepositories
internal import RestaurantsDomain

/// A user's choice, as it is stored and as it is sent to the service: `users/{user}/{kind}/{restaurant}`.
///
/// It contains the user as well, for queries over the choices of all users.
protocol StoredChoice: Codable, Sendable, DomainMappable {
    static var kind: String { get }
    var restaurant: String { get }
}

struct StoredFavourite: StoredChoice {
    static let kind = "favourites"

    var user: String
    var restaurant: String
    var since: Date

    init(domain favourite: Favourite) {
        user = favourite.user.name
        restaurant = favourite.restaurant.text
        since = favourite.since
    }

    func toDomain() throws(MappingError) -> Favourite {
        let fields = FieldMapper(of: restaurant)
        return Favourite(
            user: try fields.userID(user, "user"),
            restaurant: try fields.restaurantID(restaurant, "restaurant"),
            since: since
        )
    }
}

struct StoredRating: StoredChoice {
    static let kind = "ratings"

    var user: String
    var restaurant: String
    var stars: Int
    var date: Date

    init(domain rating: Rating) {
        user = rating.user.name
        restaurant = rating.restaurant.text
        stars = rating.stars.count
        date = rating.date
    }

    func toDomain() throws(MappingError) -> Rating {
        let fields = FieldMapper(of: restaurant)
        return Rating(
            user: try fields.userID(user, "user"),
            restaurant: try fields.restaurantID(restaurant, "restaurant"),
            stars: try fields.value(stars, "stars") { try Stars($0) },
            date: date
        )
    }
}
