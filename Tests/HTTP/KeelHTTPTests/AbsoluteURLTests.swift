import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Absolute URLs")
struct AbsoluteURLTests {
    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func transport() -> ScriptedHTTPTransport {
        ScriptedHTTPTransport(then: .json(#"{"id":"1","displayName":"Bar"}"#))
    }

    private struct Tokens: TokenSource {
        let identity: String? = "ann"
        func token() async throws -> AccessToken { AccessToken("secret") }
        func token(after refused: AccessToken) async throws -> AccessToken { AccessToken("secret") }
    }

    @Test("The URL is sent as given, without its fragment and with the query appended")
    func isKept() async throws {
        let transport = transport()
        let client = try makeClient(transport)
        let cases = [
            (
                "https://cdn.example.org/a%2Fb/c?sig=x%2By&e=#top", "cdn.example.org",
                "/a%2Fb/c?sig=x%2By&e="
            ),
            ("HTTPS://cdn.example.org:8443", "cdn.example.org:8443", "/"),
            ("http://[::1]:80/x/", "[::1]:80", "/x/"),
        ]
        for (text, authority, path) in cases {
            let _: Restaurant = try await client.get(.url(try url(text)))
            let head = try #require(transport.calls.last?.head)
            #expect(head.authority == authority)
            #expect(head.path == path)
        }
        #expect(transport.calls.map(\.head.scheme) == ["https", "https", "http"])
        let _: Restaurant = try await client.get(
            .url(try url("https://h/x?a=1")),
            query: ["b": "2"]
        )
        #expect(transport.calls.last?.head.path == "/x?a=1&b=2")
    }

    @Test("The client's header fields and credentials go only to the origin of its base URL")
    func keepsCredentials() async throws {
        let transport = transport()
        let client = try makeClient(transport) {
            $0.defaultHeaders = [.userAgent: "Keel", .cookie: "a=b"]
            $0.authorize(with: Tokens())
        }
        let own: HTTPFields = [.acceptLanguage: "sv"]
        for (text, isHome) in [
            ("https://api.example.com/other", true), ("https://API.example.com:443/", true),
            ("http://api.example.com/v1/x", false), ("https://api.example.com:8443/", false),
            ("https://api.example.com.evil.org/v1/x", false), ("https://cdn.example.org/", false),
        ] {
            _ = try await client.download(from: URLEndpoint(try url(text), headers: own))
            let fields = try #require(transport.calls.last?.head.headerFields)
            #expect(fields[.userAgent] == (isHome ? "Keel" : nil), "\(text)")
            #expect(fields[.cookie] == (isHome ? "a=b" : nil), "\(text)")
            #expect(fields[.authorization] == (isHome ? "Bearer secret" : nil), "\(text)")
            #expect(fields[.acceptLanguage] == "sv", "\(text)")
        }
    }

    @Test(
        "A URL that is not an HTTP URL is rejected before anything is sent",
        arguments: [
            "/relative", "relative?x=1", "//host/path", "ftp://host/x", "file:///etc/passwd",
            "https:///x", "mailto:ann@example.org", "https://ann:secret@host/x", "data:,x",
        ]
    )
    func refuses(_ text: String) async throws {
        let transport = transport()
        let client = try makeClient(transport)
        let error = await expectError(NetworkError.self, .invalidURL) {
            let _: Restaurant = try await client.get(.url(try url(text)))
        }
        #expect(error.map { "\($0)".contains("secret") } == false)
        let result = await client.response(to: URLEndpoint(try url(text)))
        #expect(throws: TransportError.self) { try result.get() }
        #expect(transport.calls.isEmpty)
    }

    @Test("Verbs, streams, services and uploads all accept a URL")
    func isTakenEverywhere() async throws {
        enum Pages: ServiceEndpoint {
            case next(URL)
            var path: EndpointPath { if case .next(let url) = self { .url(url) } else { "/" } }
        }
        let transport = transport()
        let client = try makeClient(transport)
        let address = try url("https://other.example.org/p?page=2")
        let pages = ServiceClient<Pages>(client)
        _ = try await pages.request(.next(address), as: Restaurant.self)
        _ = try await client.stream(URLEndpoint(address))
        let body = Credentials(userName: "ann")
        try await client.put(.url(address), body: body)
        _ = try await client.upload(
            .bytes([1, 2]),
            to: URLEndpoint(address, method: .put),
            as: EmptyResponse.self
        )
        #expect(transport.calls.allSatisfy { $0.head.authority == "other.example.org" })
        #expect(transport.calls.map(\.head.method) == [.get, .get, .put, .put])
        #expect(transport.calls.last?.body == [1, 2])
    }
}
