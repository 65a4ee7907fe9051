internal import KeelHTTP

/// `GET /restaurants`: a page of all restaurants.
struct GetRestaurantPage: Endpoint {
    typealias Response = RestaurantPageDTO

    /// The last restaurant of the previous page; nil for the first page.
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

/// `GET /restaurants/search`: restaurants that match all words.
struct GetSearchResult: Endpoint {
    typealias Response = RestaurantPageDTO

    /// The user's unencoded input: Keel encodes query values.
    let words: String
    let limit: Int

    var path: EndpointPath { "/restaurants/search" }
    var query: HTTPQuery { ["q": words, "limit": "\(limit)"] }
}
