import Foundation
import HTTPTypes
import Keel
import KeelAnalytics
import KeelConformance
import KeelHTTPAuthentication
import KeelTestServer
import KeelWebSocket

/// The types that the examples in comments use.
///
/// Each extension of this type contains those of one module. They are compiled but not run: a test
/// compares them with the comments, word for word.
enum CommentExamples {
    struct Restaurant: Codable, Identifiable, Hashable, Sendable {
        var id: String
        var name: String
        var borough = ""
        var rating = 0
        var tags: [String] = []
    }

    struct RestaurantDTO: Codable, Identifiable, Sendable, DomainMappable {
        var id: String
        var name: String
        var cuisine = ""

        init(domain: Restaurant) {
            id = domain.id
            name = domain.name
        }

        func toDomain() throws(MappingError) -> Restaurant { Restaurant(id: id, name: name) }
    }

    struct RestaurantPage: Codable, Sendable {
        var items: [RestaurantDTO]
        var next: String?
    }

    struct StoredRestaurant: Codable, Identifiable, Sendable {
        var id: String
    }

    struct FavouriteDTO: Codable, Identifiable, Sendable {
        var id: String
    }

    struct MenuDTO: Codable, Identifiable, Sendable {
        var id: String
    }

    struct Menu: Codable, Sendable {
        var id: Int
    }

    struct Item: Codable, Sendable {
        var id: Int
    }

    struct User: Codable, Sendable {
        var id: String?
    }

    struct Person: Sendable {
        var name: String
        var hash = ""
    }

    struct Image: Sendable {}

    struct Credentials: Codable, Hashable, Sendable {
        var email: String
    }

    struct API: Sendable {
        func menu(_ id: Int) async throws -> Menu { Menu(id: id) }
    }

    enum DomainError: Error {
        case noSuchRestaurant, offline, failed
    }
}

// MARK: Endpoints

extension CommentExamples {
    struct GetRestaurant: Endpoint {
        typealias Response = RestaurantDTO
        let id: String
        var path: EndpointPath { "/restaurants/\(id)" }
    }

    struct GetRestaurants: Endpoint {
        typealias Response = [RestaurantDTO]
        var path: EndpointPath { "/restaurants" }
    }

    struct GetRestaurantPage: Endpoint {
        typealias Response = RestaurantPage
        let after: String?
        var path: EndpointPath { "/restaurants" }
    }

    struct SearchRestaurants: Endpoint {
        typealias Response = [RestaurantDTO]
        let words: String
        var path: EndpointPath { "/restaurants" }
        var query: HTTPQuery { ["q": words] }
    }

    struct PutRestaurant: Endpoint {
        typealias Response = EmptyResponse
        let restaurant: RestaurantDTO
        init(_ restaurant: RestaurantDTO) { self.restaurant = restaurant }
        var method: HTTPRequest.Method { .put }
        var path: EndpointPath { "/restaurants/\(restaurant.id)" }
        var body: RequestBody? { .json(restaurant) }
    }

    struct DeleteRestaurant: Endpoint {
        typealias Response = EmptyResponse
        let id: String
        var method: HTTPRequest.Method { .delete }
        var path: EndpointPath { "/restaurants/\(id)" }
    }

    struct PutFavourite: Endpoint {
        typealias Response = EmptyResponse
        let favourite: FavouriteDTO
        init(_ favourite: FavouriteDTO) { self.favourite = favourite }
        var method: HTTPRequest.Method { .put }
        var path: EndpointPath { "/favourites/\(favourite.id)" }
        var body: RequestBody? { .json(favourite) }
    }

    struct DeleteFavourite: Endpoint {
        typealias Response = EmptyResponse
        let id: String
        var method: HTTPRequest.Method { .delete }
        var path: EndpointPath { "/favourites/\(id)" }
    }

    struct GetMenu: Endpoint {
        typealias Response = MenuDTO
        var restaurant = "1"
        var path: EndpointPath { "/restaurants/\(restaurant)/menu" }
    }

    struct GetFeed: ServiceEndpoint {
        var path: EndpointPath { "/feed" }
    }

    struct WatchOrders: ServiceEndpoint {
        var path: EndpointPath { "/orders" }
    }

    struct GetFilm: ServiceEndpoint {
        var path: EndpointPath { "/film" }
    }

    struct AddFilm: Endpoint {
        typealias Response = EmptyResponse
        var method: HTTPRequest.Method { .post }
        var path: EndpointPath { "/films" }
    }

    struct AddAlbum: Endpoint {
        typealias Response = EmptyResponse
        var method: HTTPRequest.Method { .post }
        var path: EndpointPath { "/albums" }
    }

    struct Pay: ServiceEndpoint {
        let id: String
        var method: HTTPRequest.Method { .post }
        var path: EndpointPath { "/payments/\(id)" }
    }
}

// MARK: Parts of an app outside of Keel

extension CommentExamples {
    struct Meter: Sendable {
        func record(_ duration: Duration) {}
        func increment() {}
    }

    struct Digest {
        func update(_ piece: some Sequence<UInt8>) {}
    }

    final class Bar {
        var value: Double?
    }

    struct Map: Sendable {
        func move(to place: LocationCoordinate) {}
    }

    struct Journalist: Sendable {
        func warning(_ text: String) {}
    }

    struct Reporter: Sendable {
        func run() async throws {}
        func writeLastReport() async {}
    }

    static func timer(_ name: String) -> Meter { Meter() }
    static func counter(_ name: String, _ label: String) -> Meter { Meter() }
    static func run() async throws {}
    static func track(to server: FaultServer) async throws {}
    static func show(_ value: Any?, isOld: Bool = false) {}
    static func showBanner(_ isShown: Bool) {}
    static func log(_ value: Any?) {}
    static func handle(_ message: WebSocketMessage) {}
    static func send(_ bytes: [UInt8]) async throws {}
    static func deflated(_ bytes: [UInt8]) throws -> [UInt8] { bytes }
    static func inflated(_ bytes: [UInt8], upTo count: Int) throws -> [UInt8] { bytes }
    static func fetch(_ id: String) async throws -> Restaurant { Restaurant(id: id, name: "") }
    static func load(_ url: URL) async throws -> Image { Image() }
    static func login(_ email: String, _ password: String) async throws -> BearerCredentials {
        BearerCredentials(accessToken: password)
    }
}
