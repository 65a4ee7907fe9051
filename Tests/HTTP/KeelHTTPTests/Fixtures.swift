import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit

struct Restaurant: Codable, Sendable, Equatable {
    var id: String
    var displayName: String
    var openedAt: Date?
}

struct GetRestaurant: Endpoint {
    typealias Response = Restaurant
    let id: String
    var path: EndpointPath { "/restaurants/\(id)" }
}

struct SearchRestaurants: Endpoint {
    typealias Response = [Restaurant]
    let text: String
    var city: String?
    var path: EndpointPath { "/restaurants/search" }
    var query: HTTPQuery { ["q": text, "city": city] }
}

struct Credentials: Codable, Sendable, Equatable { var userName: String }

enum AuthEndpoint: ServiceEndpoint {
    case login(Credentials)
    case logout

    var method: HTTPRequest.Method {
        switch self {
        case .login: .post
        case .logout: .delete
        }
    }

    var path: EndpointPath {
        switch self {
        case .login: "/auth/login"
        case .logout: "/auth/logout"
        }
    }

    var body: RequestBody? {
        guard case .login(let credentials) = self else { return nil }
        return .json(credentials)
    }
}

struct Token: Codable, Sendable, Equatable { var accessToken: String }

/// Creates a client over a scripted transport.
func makeClient(
    _ transport: ScriptedHTTPTransport,
    baseURL: String = "https://api.example.com/v1",
    _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
) throws -> NetworkClient {
    var configuration = try NetworkClient.Configuration(baseURL)
    // Tests of other behavior look at each exchange in isolation.
    configuration.retry = .never
    change(&configuration)
    return NetworkClient(configuration, transport: transport)
}
