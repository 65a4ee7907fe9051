import Foundation
import HTTPTypes
import Keel
import KeelHTTPAuthentication
import KeelTestKit
import KeelWebSocket
import Testing

private struct Restaurant: Codable, Sendable, Equatable {
    var id: String
    var name: String
}

private struct Refusal: Decodable, Sendable {
    var reason: String
}

private struct Photo: Decodable, Sendable {
    var id: String
}

private struct GetRestaurant: Endpoint {
    typealias Response = Restaurant
    let id: String
    var path: EndpointPath { "/restaurants/\(id)" }
}

private struct AddPhoto: Endpoint {
    typealias Response = Photo
    var path: EndpointPath { "/photos" }
}

private struct GetPhoto: ServiceEndpoint {
    let id: String
    var path: EndpointPath { "/photos/\(id)" }
}

private struct Renewals: IdentityServer {
    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        BearerCredentials(accessToken: "new", refreshToken: "second")
    }
}

@Suite("Coverage: more of HTTP")
struct CoverageHTTPMoreExamples {
    private let api = URL(string: "https://api.example") ?? URL(filePath: "/")

    private func network(
        _ answers: [ScriptedHTTPTransport.Answer]
    ) -> (client: NetworkClient, transport: ScriptedHTTPTransport) {
        let transport = ScriptedHTTPTransport(answers)
        return (NetworkClient(baseURL: api, transport: transport), transport)
    }

    @Test("Row 1, transfers")
    func transfers() async throws {
        let (client, transport) = network([.json(#"{"id":"7"}"#), .status(.ok, body: [1, 2, 3])])
        let photo = try await client.upload(Array("JPEG".utf8), to: AddPhoto())
        let bytes = try await client.download(from: GetPhoto(id: photo.id))
        #expect(bytes == Data([1, 2, 3]))
        #expect(transport.calls.map(\.head.method) == [.post, .get])
    }

    @Test("Row 12, WebSocket")
    func webSockets() async throws {
        let transport = ScriptedWebSocketTransport([
            .connection([.text("hello")], end: .close(WebSocketClose(.normal)))
        ])
        let url = try #require(URL(string: "wss://api.example/live"))
        let request = try HTTPRequest(webSocket: url)
        try await transport.withConnection(to: request) { connection in
            try await connection.send("subscribe")
            for try await message in connection.messages { #expect(message == .text("hello")) }
        }
        #expect(transport.sent == [.text("subscribe")])
    }

    @Test("Row 14, verbs")
    func verbs() async throws {
        let transport = ScriptedHTTPTransport(then: .json(#"{"id":"42","name":"Reynolds"}"#))
        let client = NetworkClient(baseURL: api, transport: transport)
        let draft = Restaurant(id: "", name: "Reynolds")
        let saved = try await client.post("/restaurants", body: draft, as: Restaurant.self)
        _ = try await client.put("/restaurants/42", body: saved, as: Restaurant.self)
        try await client.delete("/restaurants/42")
        #expect(transport.calls.map(\.head.method) == [.post, .put, .delete])
    }

    @Test("Row 15")
    func declaredFailures() async throws {
        let transport = ScriptedHTTPTransport([.json(#"{"reason":"closed"}"#, status: .conflict)])
        var configuration = NetworkClient.Configuration(baseURL: api)
        configuration.errorBodies = [.json(Refusal.self, for: .conflict)]
        let client = NetworkClient(configuration, transport: transport)
        let error = await #expect(throws: NetworkError.self) {
            try await client.request(GetRestaurant(id: "42"))
        }
        #expect(error?.errorBody(as: Refusal.self)?.reason == "closed")
        #expect(error?.recoverySuggestion?.isEmpty == false)
    }

    @Test("Row 19, HTTP")
    func repeatsCalls() async throws {
        let transport = ScriptedHTTPTransport([
            .status(503), .failure(TransportError(.connectionLost)),
            .json(#"{"id":"42","name":"Reynolds"}"#),
        ])
        var configuration = NetworkClient.Configuration(baseURL: api)
        configuration.retry.baseDelay = .zero
        let client = NetworkClient(configuration, transport: transport)
        let restaurant = try await client.request(GetRestaurant(id: "42"))
        #expect(restaurant.name == "Reynolds")
        #expect(transport.calls.count == 3)
    }

    @Test("Row 19, what is not repeated")
    func repeatsNoHarm() async throws {
        let (client, transport) = network([.failure(TransportError(.connectionLost))])
        let error = await #expect(throws: NetworkError.self) {
            try await client.post("/orders", body: ["item": "1"], as: EmptyResponse.self)
        }
        #expect(error?.transportError?.retryRefusal == .notIdempotent)
        #expect(transport.calls.count == 1)
    }

    @Test("Row 20", .timeLimit(.minutes(1)))
    func oneFlight() async throws {
        let (client, transport) = network([.json(#"{"id":"42","name":"Reynolds"}"#)])
        let flights = SingleFlight<String, Restaurant>()
        let load: @Sendable () async throws -> Restaurant = {
            try await waitUntil { flights.waiterCount(of: "42") >= 2 }
            return try await client.request(GetRestaurant(id: "42"))
        }
        async let one = flights.run("42", operation: load)
        async let two = flights.run("42", operation: load)
        let (first, second) = try await (one, two)
        #expect(first == second)
        #expect(transport.calls.count == 1)
    }

    @Test("Row 22, HTTP")
    func doubles() async throws {
        let transport = ScriptedHTTPTransport(then: .json(#"{"id":"42","name":"Reynolds"}"#))
            .failing([.loseReply(), .delay(.milliseconds(1))])
            .recorded()
        let client = NetworkClient(baseURL: api, transport: transport)
        _ = try await client.request(GetRestaurant(id: "42"))
        #expect(transport.heads.map(\.method) == [.get, .get])
    }

    @Test("Row 31")
    func authentication() async throws {
        let session = AuthSession(server: Renewals())
        let transport = ScriptedHTTPTransport([
            .status(401), .json(#"{"id":"42","name":"Reynolds"}"#),
        ])
        var configuration = NetworkClient.Configuration(baseURL: api)
        configuration.authorize(with: session)
        let client = NetworkClient(configuration, transport: transport)
        try await session.signIn { BearerCredentials(accessToken: "old", refreshToken: "first") }
        _ = try await client.request(GetRestaurant(id: "42"))
        let signatures = transport.calls.map { $0.head.headerFields[.authorization] }
        #expect(signatures == ["Bearer old", "Bearer new"])
        try await session.signOut()
        #expect(session.state == .signedOut(.requested))
    }
}
