import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

@Suite("The Accept field")
struct AcceptTests {
    private struct Own: Endpoint {
        typealias Response = Restaurant
        var path: EndpointPath { "/x" }
        var headers: HTTPFields { [.accept: "application/vnd.example+json"] }
    }

    private struct Empty: Endpoint {
        typealias Response = EmptyResponse
        var path: EndpointPath { "/x" }
    }

    private func transport() -> ScriptedHTTPTransport {
        ScriptedHTTPTransport(then: .json(#"{"id":"1","displayName":"Bar"}"#))
    }

    private func accepted(_ transport: ScriptedHTTPTransport) -> [String?] {
        transport.calls.map { $0.head.headerFields[.accept] }
    }

    @Test("A call with a decoded response asks for JSON")
    func asks() async throws {
        let transport = transport()
        let client = try makeClient(transport)
        _ = try await client.request(GetRestaurant(id: "1"))
        _ = try await client.request(Empty(), as: Restaurant.self)
        _ = try await client.request(Empty(), as: Restaurant?.self)
        let _: Restaurant = try await client.get("/x")
        let _: Restaurant = try await client.post("/x", body: Credentials(userName: "ann"))
        let _: Restaurant = try await client.delete("/x")
        _ = try await client.upload([1], to: GetRestaurant(id: "1"))
        _ = await client.response(to: GetRestaurant(id: "1"))
        #expect(accepted(transport) == Array(repeating: "application/json", count: 8))
    }

    @Test("A call without a decoded response sends no Accept field")
    func isSilent() async throws {
        let transport = transport()
        let client = try makeClient(transport)
        try await client.delete("/x")
        try await client.post("/x", body: Credentials(userName: "ann"))
        _ = try await client.request(Empty())
        _ = await client.response(to: Empty())
        _ = await client.response(to: AuthEndpoint.logout)
        _ = try await client.download(from: GetRestaurant(id: "1"))
        _ = try await client.stream(GetRestaurant(id: "1"))
        #expect(accepted(transport) == Array(repeating: nil, count: 7))
    }

    @Test("The endpoint's Accept field overrides the client's, and both override the default")
    func isReplaced() async throws {
        let transport = transport()
        let client = try makeClient(transport) { $0.defaultHeaders = [.accept: "*/*"] }
        _ = try await client.request(Own())
        _ = try await client.request(GetRestaurant(id: "1"))
        #expect(accepted(transport) == ["application/vnd.example+json", "*/*"])
    }

    @Test("An endpoint of the main actor also asks for JSON")
    @MainActor
    func asksFromTheMainActor() async throws {
        @MainActor struct Local: @MainActor Endpoint {
            typealias Response = Restaurant
            var path: EndpointPath { "/x" }
        }
        let transport = transport()
        _ = await (try makeClient(transport)).response(to: Local())
        #expect(accepted(transport) == ["application/json"])
    }
}
