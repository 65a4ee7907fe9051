import Foundation
import HTTPTypes
import KeelHTTP
import KeelHTTPCookies
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Users of a cookie jar", .timeLimit(.minutes(1)))
struct CookieUserTests {
    private typealias Answer = ScriptedHTTPTransport.Answer

    private let gate = Gate()
    private let jar = CookieJar()

    /// Answers with the request's cookies, at a gate, and sets a cookie.
    private func held(setting cookie: String) -> Answer {
        Answer { [gate] call async throws(TransportError) in
            _ = try? await gate.pass()
            return HTTPReply(
                head: HTTPResponse(status: .ok, headerFields: [.setCookie: cookie]),
                body: .chunks([Array((call.head.headerFields[.cookie] ?? "none").utf8)])
            )
        }
    }

    /// Answers with the request's cookies.
    private let echo = Answer { call async throws(TransportError) in
        let text = call.head.headerFields[.cookie] ?? "none"
        return HTTPReply(head: HTTPResponse(status: .ok), body: .chunks([Array(text.utf8)]))
    }

    private func signIn(_ user: String) {
        let head = HTTPRequest("https://api.example.com/login", .post)
        jar.store(["sid=\(user); Path=/"], from: head)
    }

    /// The same `Authorization` field for all users, such as that of an app.
    private static let appKey: HTTPFields = [.authorization: "Basic YXBwOmtleQ=="]

    private func text(
        _ client: NetworkClient,
        _ authentication: HTTPAuthentication = .required
    ) async throws -> String {
        var options = HTTPCallOptions()
        options.authentication = authentication
        let response = try await client.response(to: GetProfile(), options: options).get()
        return String(decoding: response.body, as: UTF8.self)
    }

    @Test("A late response does not sign an earlier user in again")
    func lateCookies() async throws {
        let transport = ScriptedHTTPTransport([held(setting: "sid=ann; Path=/")], then: echo)
        let client = try makeClient(transport) { $0.attemptMiddleware = [jar] }
        signIn("ann")
        let late = Task { try await text(client) }
        try await waitUntil { gate.begunCount == 1 }
        jar.remove()
        signIn("ben")
        gate.open()
        #expect(try await late.value == "sid=ann")
        #expect(jar.cookies.map(\.value) == ["ben"])
        #expect(try await text(client) == "sid=ben")
    }

    @Test(
        "A user does not share the exchange of an earlier one",
        arguments: [HTTPAuthentication.required, .none],
        [false, true]
    )
    func coalescing(authentication: HTTPAuthentication, hasAppKey: Bool) async throws {
        let transport = ScriptedHTTPTransport([held(setting: "seen=1")], then: echo)
        let client = try makeClient(transport) {
            $0.middleware = [CoalescingMiddleware()]
            $0.attemptMiddleware = [jar]
            if hasAppKey { $0.defaultHeaders = Self.appKey }
        }
        signIn("ann")
        let early = Task { try await text(client, authentication) }
        try await waitUntil { gate.begunCount == 1 }
        jar.remove()
        signIn("ben")
        #expect(try await text(client, authentication) == "sid=ben")
        gate.open()
        #expect(try await early.value == "sid=ann")
    }

    @Test("A retry is not sent with the cookies of a later user")
    func retries() async throws {
        let busy = Answer { [jar] _ async throws(TransportError) in
            jar.remove()
            return HTTPReply(head: HTTPResponse(status: .serviceUnavailable))
        }
        let transport = ScriptedHTTPTransport([busy], then: echo)
        let client = try makeClient(transport) {
            $0.attemptMiddleware = [jar]
            $0.retry = .attempts(2)
            $0.retry.jitter = { 0 }
        }
        await expectError(TransportError.self, .credentialsUnavailable) { try await text(client) }
        #expect(transport.calls.count == 1)
    }

    @Test("The removal of some cookies changes no user")
    func someCookies() async throws {
        let busy = Answer { [jar] _ async throws(TransportError) in
            jar.remove { $0.name == "offer" }
            return HTTPReply(
                head: HTTPResponse(
                    status: .serviceUnavailable,
                    headerFields: [.setCookie: "zone=1; Path=/"]
                )
            )
        }
        let client = try makeClient(ScriptedHTTPTransport([busy], then: echo)) {
            $0.attemptMiddleware = [jar]
            $0.retry = .attempts(2)
            $0.retry.jitter = { 0 }
        }
        signIn("ann")
        let first = jar.identity
        #expect(try await text(client) == "sid=ann; zone=1")
        #expect(jar.identity == first)
    }

    @Test("The identity changes with each removal of all cookies, and saved cookies carry it")
    func identities() throws {
        let first = jar.identity
        signIn("ann")
        #expect(jar.identity == first)
        let saved = try JSONEncoder().encode(jar.cookies)
        let restored = CookieJar(try JSONDecoder().decode([Cookie].self, from: saved))
        #expect(restored.identity == first)
        restored.remove()
        #expect(restored.identity != first)
        jar.remove()
        #expect(jar.identity != first)
        #expect(CookieJar().identity != CookieJar().identity)
        let constant = CookieJar(identity: "all")
        constant.remove()
        #expect(constant.identity == "all")
    }
}
