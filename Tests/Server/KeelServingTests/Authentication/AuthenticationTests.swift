import Foundation
import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelServing

@Suite("Authentication of requests", .timeLimit(.minutes(1)))
struct AuthenticationTests {
    private let store = PrincipalStore()
    private let served: Served

    init() {
        served = Served(store) { configuration in
            configuration.authenticate = TestUsers.authenticate
            configuration.ingest = Ingest()
            configuration.metrics = { "" }
            configuration.allowsClearing = true
        }
    }

    /// A request, as it would be answered without authentication.
    struct Route: Sendable, CustomTestStringConvertible {
        let method: HTTPRequest.Method
        let path: String
        let status: Int
        let body: String

        init(_ method: HTTPRequest.Method, _ path: String, _ status: Int, _ body: String = "") {
            (self.method, self.path, self.status, self.body) = (method, path, status, body)
        }

        var testDescription: String { "\(method.rawValue) \(path)" }
    }

    private static let query = #"{"structuredQuery":{"from":[{"collectionId":"a"}]}}"#

    static let routes = [
        Route(.get, "\(Served.root)/a/1", 404),
        Route(.post, "\(Served.root):commit", 200, Served.commit("a/1", n: 1)),
        Route(.post, "\(Served.root):runQuery", 200, query),
        Route(.get, "/keel/v1/schema", 200),
        Route(.get, "/metrics", 200),
        Route(.delete, "/emulator/v1/\(Served.database)/documents", 200),
        Route(.get, "/sync/all/changes", 200),
        Route(.get, "/sync/all/events", 200),
        Route(.post, "/v1/logs", 200, #"{"resourceLogs":[]}"#),
        Route(.post, "/v1/analytics/batch", 200, #"{"version":1,"records":[]}"#),
    ]

    private func call(_ route: Route, _ fields: HTTPFields, body: HTTPBody) -> HTTPCall {
        var fields = fields
        if route.method == .post { fields[.contentType] = "application/json" }
        let head = HTTPRequest("http://127.0.0.1:8080\(route.path)", route.method, fields)
        return HTTPCall(head, body: route.method == .post ? body : nil)
    }

    /// A body that nobody may read.
    private static var untouched: HTTPBody {
        HTTPBody(length: nil, isReplayable: false) {
            Issue.record("The body has been read.")
            return .empty
        }
    }

    @Test("Without a known token, every route answers 401 before it reads", arguments: routes)
    func refused(route: Route) async throws {
        for (fields, part) in [(HTTPFields(), "missing"), (TestUsers.stranger, "unknown")] {
            let reply = await served.server.respond(to: call(route, fields, body: Self.untouched))
            #expect(reply.head.headerFields[.wwwAuthenticate] == "Bearer")
            let answer = try await Served.Answer(reply)
            #expect(answer.status == 401)
            #expect(answer.error == "UNAUTHENTICATED")
            #expect(answer.reason == "unauthenticated")
            #expect(answer.json["error"]?["message"]?.text?.contains(part) == true)
        }
        #expect(store.ids.isEmpty)
    }

    @Test("With a known token, every route answers, also a guest", arguments: routes)
    func admitted(route: Route) async throws {
        for fields in [TestUsers.ann, TestUsers.guest] {
            let body = HTTPBody(Array(route.body.utf8))
            let reply = await served.server.respond(to: call(route, fields, body: body))
            #expect(reply.head.status.code == route.status)
        }
    }

    @Test("Health, and what browsers ask before a request, need no token")
    func open() async throws {
        #expect(try await served.send(.get, path: "/health").status == 200)
        #expect(try await served.send(.options, path: "\(Served.root):commit").status == 204)
        #expect(Set(store.ids) == [nil])
    }

    @Test("An authenticator that fails for another reason answers with that")
    func failures() async throws {
        let served = Served { configuration in
            configuration.authenticate = { head async throws(StorageError) -> StoragePrincipal? in
                let isBanned = head.headerFields[.authorization] != nil
                throw StorageError(isBanned ? .permissionDenied : .unavailable, "not now")
            }
        }
        let unavailable = try await served.send(.get, "/a/1")
        #expect(unavailable.status == 503)
        #expect(unavailable.head.headerFields[.retryAfter] == "1")
        #expect(unavailable.head.headerFields[.wwwAuthenticate] == nil)
        let banned = try await served.send(.get, path: "\(Served.root)/a/1", nil, TestUsers.ann)
        #expect(banned.status == 403)
    }

    @Test("An authenticator that hangs is given up, and its callers come back later")
    func hanging() async throws {
        let gate = Gate()
        defer { gate.open() }
        let served = Served { configuration in
            configuration.authenticationTimeout = .seconds(7)
            configuration.authenticate = { _ async throws(StorageError) -> StoragePrincipal? in
                // In a task of its own, it does not notice that it is canceled.
                _ = try? await Task { try await gate.pass() }.value
                return nil
            }
        }
        async let answer = served.send(.get, "/a/1")
        async let call = served.call(.getDocument, ["name": .string(Served.name("a/1"))])
        try await waitUntil { gate.begunCount == 2 }
        await served.clock.advance(by: .seconds(7), onceAsleep: 2)
        let unavailable = try await answer
        #expect(unavailable.status == 503)
        #expect(unavailable.head.headerFields[.retryAfter] == "1")
        #expect(try await call.status == 14)
    }

    @Test("A caller that leaves cancels its authentication")
    func leaving() async throws {
        let gate = Gate()
        let served = Served { configuration in
            configuration.authenticate = { _ async throws(StorageError) -> StoragePrincipal? in
                do { try await gate.pass() } catch { throw .cancellation }
                return nil
            }
        }
        let request = Task { try await served.send(.get, "/a/1") }
        try await waitUntil { gate.begunCount == 1 }
        request.cancel()
        _ = await request.result
        try await waitUntil { gate.cancelledCount == 1 }
    }

    @Test("Without an authenticator everybody is anonymous")
    func anonymous() async throws {
        let store = PrincipalStore()
        let served = Served(store)
        let answer = try await served.send(.get, path: "\(Served.root)/a/1", nil, TestUsers.ann)
        #expect(answer.status == 404)
        #expect(Set(store.ids) == [nil])
    }

    @Test("A store sees the principal of each request, and not that of a client in its process")
    func context() async throws {
        let path = "\(Served.root)/a/1"
        let document = Array(#"{"fields":{}}"#.utf8)
        #expect(try await served.send(.patch, path: path, document, TestUsers.ann).status == 200)
        #expect(try await served.send(.get, path: path, nil, TestUsers.ann).status == 200)
        #expect(Set(store.ids) == ["ann"])
        store.forget()
        #expect(try await served.send(.get, path: path, nil, TestUsers.bob).status == 200)
        #expect(Set(store.ids) == ["bob"])
        store.forget()
        let inner = FirestoreStorageAdapter(
            .keel(try #require(URL(string: "http://127.0.0.1")), authentication: .token("guest")),
            transport: HandlerTransport(served.server)
        )
        let client = StorageClient(inner).acting(as: StoragePrincipal(id: "root"))
        _ = try await client.findDocument("a/1")
        #expect(Set(store.ids) == [nil])
    }

    @Test("An authenticator that asks the store does so on behalf of nobody")
    func asking() async throws {
        let users = PrincipalStore()
        let served = Served(store) { configuration in
            configuration.authenticate = { head async throws(StorageError) -> StoragePrincipal? in
                _ = try await StorageClient(users).findDocument("users/ann")
                return try await TestUsers.authenticate(head)
            }
        }
        let inner = FirestoreStorageAdapter(
            .keel(try #require(URL(string: "http://127.0.0.1")), authentication: .token("token-a")),
            transport: HandlerTransport(served.server)
        )
        let client = StorageClient(inner).acting(as: StoragePrincipal(id: "root"))
        _ = try await client.findDocument("a/1")
        #expect(Set(users.ids) == [nil])
        #expect(Set(store.ids) == ["ann"])
    }

    @Test("The pages of a long reply are read on behalf of its principal")
    func longReply() async throws {
        let text = DocumentValue.string(String(repeating: "x", count: 100_000))
        let client = StorageClient(store.upstream)
        for number in 0..<8 { try await client.setDocument("a/\(number)", ["text": text]) }
        let served = Served(store) { configuration in
            configuration.authenticate = TestUsers.authenticate
            (configuration.firstPageBytes, configuration.pageBytes) = (150_000, 150_000)
        }
        let route = Route(.post, "\(Served.root):runQuery", 200, Self.query)
        let reply = await served.server.respond(
            to: call(route, TestUsers.ann, body: HTTPBody(Array(Self.query.utf8)))
        )
        let count = store.ids.count
        let answer = try await Served.Answer(reply)
        #expect(answer.json.elements?.count { $0["document"] != nil } == 8)
        #expect(store.ids.count > count, "pages are read while they are sent")
        #expect(Set(store.ids) == ["ann"])
    }

    @Test("A change stream is read on behalf of its principal, the server's own records are not")
    func changeStream() async throws {
        let route = Route(.get, "/sync/all/events", 200)
        let reply = await served.server.respond(
            to: call(route, TestUsers.ann, body: Self.untouched)
        )
        #expect(store.ids.contains("ann"))
        #expect(store.ids.contains(nil))
        var stream = SyncStream(reply.body)
        _ = try await stream.nextName()
        let document = Array(#"{"fields":{}}"#.utf8)
        let path = "\(Served.root)/a/1"
        #expect(try await served.send(.patch, path: path, document, TestUsers.bob).status == 200)
        _ = try await stream.names(upTo: "change a/1")
        #expect(!stream.lastID.isEmpty)
    }
}
