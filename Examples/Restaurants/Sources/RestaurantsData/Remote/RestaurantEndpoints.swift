internal import KeelHTTP

/// `GET /restaurants`: a part of all restaurants.
struct GetRestaurantPage: Endpoint {
    typealias Response = RestaurantPageDTO

    /// The last restaurant of the part before; nil for the first part.
    let after: String?
    let limit: Int

    var path: EndpointPath { "/restaurants" }
    var query: HTTPQuery { ["limit": "\(limit)", "after": after] }
}

/// `GET /restaurants/{id}`: one restaurant.
struct GetRestaurant: Endpoint {
    typealias Response = RestaurantDTO

    let id: String

    var path: EndpointPath { "/restaurants/\(id)" }
}

/// `GET /restaurants/search`: restaurants that have all the words.
struct GetSearchResult: Endpoint {
    typealias Response = RestaurantPageDTO

    /// As the user wrote it: Keel encodes a query's values.
    let words: String
    let limit: Int

    var path: EndpointPath { "/restaurants/search" }
    var query: HTTPQuery { ["q": words, "limit": "\(limit)"] }
}
