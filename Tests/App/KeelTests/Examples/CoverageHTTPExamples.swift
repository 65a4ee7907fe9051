import Foundation
import HTTPTypes
import Keel
import KeelTestKit
import Testing

private struct Restaurant: Codable, Sendable, Equatable {
    var id: String
    var name: String
}

private struct Credentials: Codable, Sendable {
    var email: String
}

private struct Token: Codable, Sendable, Equatable {
    var token: String
}

private struct GetRestaurant: Endpoint {
    typealias Response = Restaurant
    let id: String
    var path: EndpointPath { "/restaurants/\(id)" }
}

private enum AuthEndpoint: ServiceEndpoint {
    case login(Credentials)
    var method: HTTPRequest.Method { .post }
    var path: EndpointPath { "/auth/login" }
    var body: RequestBody? {
        if case .login(let credentials) = self { .json(credentials) } else { nil }
    }
}

@Suite("Coverage: HTTP")
struct CoverageHTTPExamples {
    private let api = URL(string: "https://api.example") ?? URL(filePath: "/")

    private func network(
        _ answers: [ScriptedHTTPTransport.Answer]
    ) -> (client: NetworkClient, transport: ScriptedHTTPTransport) {
        let transport = ScriptedHTTPTransport(answers)
        return (NetworkClient(baseURL: api, transport: transport), transport)
    }

    @Test("Row 1")
    func typedRequest() async throws {
        let transport = ScriptedHTTPTransport([.json(#"{"id":"42","name":"Reynolds"}"#)])
        var configuration = NetworkClient.Configuration(baseURL: api)
        configuration.defaultHeaders[.userAgent] = "Notes/1.0"
        let client = NetworkClient(configuration, transport: transport)
        let restaurant = try await client.request(GetRestaurant(id: "42"))
        #expect(restaurant.name == "Reynolds")
    }

    @Test("Row 2")
    func networkErrors() async throws {
        let (client, _) = network([.status(404)])
        do throws(NetworkError) {
            _ = try await client.request(GetRestaurant(id: "0"))
        } catch {
            #expect(error.code == .notFound)
            #expect(error.recoverySuggestion?.isEmpty == false)
        }
    }

    @Test("Row 8")
    func statusLeftToCaller() async throws {
        let (client, _) = network([.status(409)])
        switch await client.response(to: GetRestaurant(id: "42")) {
        case .success(let response): #expect(response.status == .conflict)
        case .failure(let error): Issue.record(error)
        }
    }

    @Test("Row 8, services")
    func services() async throws {
        let (client, _) = network([.json(#"{"token":"t"}"#)])
        let auth = ServiceClient<AuthEndpoint>(client)
        let token = try await auth.request(
            .login(Credentials(email: "a@b.example")),
            as: Token.self
        )
        #expect(token == Token(token: "t"))
    }

    @Test("Row 9")
    func transportErrors() async throws {
        let (client, _) = network([.failure(TransportError(.connectionRefused))])
        let result = await client.response(to: GetRestaurant(id: "42"))
        guard case .failure(let error) = result else { return }
        #expect(error.code == .connectionRefused)
        #expect(error.processed == .no)
    }

    @Test("Row 13")
    func mockable() async throws {
        let transport = ScriptedHTTPTransport([.json(#"{"id":"42","name":"Reynolds"}"#)])
        let client = NetworkClient(baseURL: api, transport: transport)
        _ = try await client.request(GetRestaurant(id: "42"))
        #expect(transport.calls.map(\.head.path) == ["/restaurants/42"])
    }

    @Test("Row 14")
    func codingAndTimeouts() async throws {
        let (_, transport) = network([.json(#"{"id":"42","name":"Reynolds"}"#)])
        var configuration = NetworkClient.Configuration(baseURL: api)
        configuration.json = .snakeCase
        let client = NetworkClient(configuration, transport: transport)
        let found = try await client.get(
            "/restaurants/42",
            as: Restaurant.self,
            timeout: .seconds(5)
        )
        #expect(found.id == "42")
    }
}
