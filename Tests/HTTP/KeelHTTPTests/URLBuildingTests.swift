import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("URLs of requests")
struct URLBuildingTests {
    @Test(
        "A value in a path stays inside its segment",
        arguments: [
            ("42", "42"), ("a/b", "a%2Fb"), ("a?b=c", "a%3Fb%3Dc"), ("a#b", "a%23b"),
            ("50%", "50%25"), ("%2e%2e", "%252e%252e"), ("Zoë 🍜", "Zo%C3%AB%20%F0%9F%8D%9C"),
            ("a;b&c+d", "a%3Bb%26c%2Bd"), ("..a", "..a"), ("../../admin", "..%2F..%2Fadmin"),
        ]
    )
    func encodesSegments(value: String, expected: String) async throws {
        let transport = ScriptedHTTPTransport([.json(#"{"id":"1","displayName":"x"}"#)])
        _ = try await makeClient(transport).request(GetRestaurant(id: value))
        #expect(transport.calls.first?.head.path == "/v1/restaurants/\(expected)")
    }

    @Test(
        "A value that would address another resource is rejected before anything is sent",
        arguments: ["", ".", ".."]
    )
    func refusesDangerousSegments(value: String) async throws {
        let transport = ScriptedHTTPTransport()
        let client = try makeClient(transport)
        await expectError(NetworkError.self, .invalidURL) {
            try await client.request(GetRestaurant(id: value))
        }
        #expect(transport.calls.isEmpty)
    }

    @Test(
        "A literal path with a query, a fragment or dot segments is rejected",
        arguments: ["/search?q=x", "/a#b", "/a/../b", "/a/%2E%2e/b", "/a/%zz", "/50%"]
    )
    func refusesBrokenLiterals(path: String) async throws {
        let client = try makeClient(ScriptedHTTPTransport())
        await expectError(NetworkError.self, .invalidURL) {
            try await client.delete(EndpointPath(stringLiteral: path))
        }
    }

    @Test("Query values arrive unchanged, whatever their characters")
    func encodesQueries() async throws {
        let transport = ScriptedHTTPTransport([.json("[]")])
        let text = "fish & chips + tea = 100%?#/é"
        _ = try await makeClient(transport).request(SearchRestaurants(text: text))
        let path = try #require(transport.calls.first?.head.path)
        #expect(
            path == "/v1/restaurants/search?"
                + "q=fish%20%26%20chips%20%2B%20tea%20%3D%20100%25%3F%23%2F%C3%A9"
        )
        let components = try #require(URLComponents(string: "https://example.com" + path))
        #expect(components.queryItems?.map(\.value) == [text])
    }

    @Test("Query items keep their order, and nil items are omitted")
    func ordersQueries() {
        var query: HTTPQuery = ["b": "1", "a": nil, "b": "2"]
        query.append("page", 3)
        query.append("none", Int?.none)
        #expect(query.encoded == "b=1&b=2&page=3")
    }

    @Test("A path accepts segments, numbers, typed identifiers and UUIDs")
    func takesManyValues() async throws {
        struct ID: RawRepresentable { var rawValue: String }
        let uuid = UUID()
        let paths: [(EndpointPath, String)] = [
            (EndpointPath(segments: ["a b", "c/d"]), "/v1/a%20b/c%2Fd"),
            ("/users/\(7)/\(ID(rawValue: "x y"))", "/v1/users/7/x%20y"),
            ("/users/\(uuid)", "/v1/users/\(uuid.uuidString)"),
            ("//twice", "/v1/twice"),
            ("plain/", "/v1/plain/"),
        ]
        for (path, expected) in paths {
            let transport = ScriptedHTTPTransport([.status(.noContent)])
            try await makeClient(transport).delete(path)
            #expect(transport.calls.first?.head.path == expected)
        }
    }

    @Test(
        "The base URL's scheme, port, IPv6 host and path are kept",
        arguments: [
            ("https://api.example.com", "https", "api.example.com", "/x"),
            ("http://localhost:8080/", "http", "localhost:8080", "/x"),
            ("HTTPS://example.com/a%20b/", "https", "example.com", "/a%20b/x"),
            ("http://[::1]:81/v1", "http", "[::1]:81", "/v1/x"),
        ]
    )
    func keepsBase(base: String, scheme: String, authority: String, path: String) async throws {
        let transport = ScriptedHTTPTransport([.status(.noContent)])
        try await makeClient(transport, baseURL: base).delete("/x")
        let head = try #require(transport.calls.first?.head)
        #expect(head.scheme == scheme)
        #expect(head.authority == authority)
        #expect(head.path == path)
    }

    @Test(
        "A base URL that cannot carry endpoints is rejected",
        arguments: [
            "ftp://example.com", "/relative", "https://user:secret@example.com",
            "https://example.com/?key=secret", "https://example.com/#top", "https:///path",
        ]
    )
    func refusesBases(base: String) async throws {
        let client = try makeClient(ScriptedHTTPTransport(), baseURL: base)
        let error = await expectError(NetworkError.self, .invalidURL) {
            try await client.delete("/x")
        }
        #expect(error?.description.contains("secret") == false)
    }
}
