import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Redirects")
struct RedirectTests {
    private let secret: HTTPFields = [
        .authorization: "Bearer s3cret", .cookie: "s3cret", .userAgent: "Keel",
    ]

    @Test(
        "A location is resolved against the redirecting URL",
        arguments: [
            ("/new?a=b#top", "api.example.com", "/new?a=b"),
            ("other", "api.example.com", "/v1/other"),
            ("../up", "api.example.com", "/up"),
            ("//cdn.example.com/x", "cdn.example.com", "/x"),
            ("https://cdn.example.com:8443", "cdn.example.com:8443", "/"),
        ]
    )
    func resolves(location: String, authority: String, path: String) async throws {
        let transport = ScriptedHTTPTransport([.redirect(to: location), .status(.ok)])
        try await follow(transport, .get)
        #expect(transport.calls.last?.head.authority == authority)
        #expect(transport.calls.last?.head.path == path)
    }

    @Test("Credentials stay within the origin; other fields follow the redirect")
    func stripsCredentials() async throws {
        let transport = ScriptedHTTPTransport([
            .redirect(to: "https://API.example.com:443/same"),
            .redirect(to: "https://evil.example/x"), .status(.ok),
        ])
        try await follow(transport, .get)
        let fields = transport.calls.map(\.head.headerFields)
        #expect(fields.map { $0[.authorization] } == ["Bearer s3cret", "Bearer s3cret", nil])
        #expect(fields.map { $0[.cookie] } == ["s3cret", "s3cret", nil])
        #expect(fields.allSatisfy { $0[.userAgent] == "Keel" })
    }

    @Test("Fields named by the policy as credentials also stay within the origin")
    func stripsNamedFields() async throws {
        let transport = ScriptedHTTPTransport([
            .redirect(to: "https://evil.example/x"), .status(.ok),
        ])
        let policy = RedirectPolicy(methods: nil, credentialFields: [.userAgent])
        try await follow(transport, .get, policy)
        #expect(transport.calls.last?.head.headerFields[.userAgent] == nil)
    }

    @Test("The client's header fields stay within its origin")
    func stripsDefaultFields() async throws {
        let transport = ScriptedHTTPTransport([
            .redirect(to: "https://evil.example/x"), .redirect(to: "https://api.example.com/y"),
            .status(.ok),
        ])
        let key = try #require(HTTPField.Name("X-API-Key"))
        let client = try makeClient(transport) {
            $0.defaultHeaders = [.userAgent: "Keel", .acceptLanguage: "de"]
            $0.defaultHeaders[key] = "s3cret"
        }
        _ = try await client.response(to: GetRestaurant(id: "1")).get()
        let fields = transport.calls.map(\.head.headerFields)
        #expect(fields.map { $0[key] } == ["s3cret", nil, "s3cret"])
        #expect(fields.allSatisfy { $0[.userAgent] == "Keel" && $0[.acceptLanguage] == "de" })
    }

    @Test(
        "The method is rewritten as RFC 9110 requires",
        arguments: [
            (301, HTTPRequest.Method.post, HTTPRequest.Method.get), (302, .post, .get),
            (303, .put, .get), (303, .head, .head), (307, .post, .post), (308, .put, .put),
            (302, .put, .put), (301, .get, .get),
        ]
    )
    func rewritesMethods(
        status: Int,
        before: HTTPRequest.Method,
        after: HTTPRequest.Method
    ) async throws {
        let transport = ScriptedHTTPTransport([
            .redirect(to: "/next", status: .init(code: status)), .status(.ok),
        ])
        try await follow(transport, before, .all, body: HTTPBody([1, 2]))
        let last = try #require(transport.calls.last)
        #expect(last.head.path == "/next")
        #expect(last.head.method == after)
        #expect(last.body == (before == after ? [1, 2] : []))
        #expect((last.head.headerFields[.contentType] != nil) == (before == after))
    }

    @Test("A body that cannot be replayed is not resent: the redirect is returned")
    func keepsOneShotBodies() async throws {
        let transport = ScriptedHTTPTransport([
            .redirect(to: "/next", status: .temporaryRedirect), .status(.ok),
        ])
        let body = HTTPBody(length: 1, isReplayable: false) { () async throws(TransportError) in
            .chunks([[1]])
        }
        let reply = try await follow(transport, .post, .all, body: body)
        #expect(reply.head.status == .temporaryRedirect)
    }

    @Test("By default, only GET and HEAD follow redirects")
    func followsSafeMethods() async throws {
        let transport = ScriptedHTTPTransport([.redirect(to: "/next"), .redirect(to: "/next")])
        let client = try makeClient(transport)
        #expect(try await client.response(to: AuthEndpoint.logout).get().status == .found)
        #expect(transport.calls.count == 1)
    }

    @Test(
        "A redirect that cannot be followed fails with its own code",
        arguments: [
            ("/v1/start", TransportError.Code.redirectLoop),
            ("http://api.example.com/x", .redirectDowngrade), ("", .redirectInvalid),
            ("mailto:a@b", .redirectInvalid), ("https://u:p@h/", .redirectInvalid),
            ("https:///x", .redirectInvalid),
        ]
    )
    func refuses(location: String, code: TransportError.Code) async throws {
        let transport = ScriptedHTTPTransport([.redirect(to: location), .status(.ok)])
        let error = await expectError(TransportError.self, code) {
            try await follow(transport, .get)
        }
        #expect(error?.processed == .yes)
    }

    @Test("A chain of redirects ends at the limit")
    func limits() async throws {
        let answers = (1...21).map { ScriptedHTTPTransport.Answer.redirect(to: "/\($0)") }
        let transport = ScriptedHTTPTransport(answers)
        await expectError(TransportError.self, .redirectLimit) { try await follow(transport, .get) }
        #expect(transport.calls.count == 21)
    }

    @discardableResult
    private func follow(
        _ transport: ScriptedHTTPTransport,
        _ method: HTTPRequest.Method,
        _ policy: RedirectPolicy = .safeMethods,
        body: HTTPBody? = nil
    ) async throws(TransportError) -> HTTPReply {
        var head = HTTPRequest("https://api.example.com/v1/start", method, secret)
        if body != nil { head.headerFields[.contentType] = "text/plain" }
        return try await transport.chain([RedirectMiddleware(policy)])(HTTPCall(head, body: body))
    }
}
