import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Synchronization
import Testing

@Suite("Authentication of Firestore requests")
struct AuthenticationTests {
    /// A source of numbered tokens, with a new one after each refusal.
    private final class Numbered: TokenSource {
        private let number = Mutex(1)
        private let error: (any Error)?

        init(failing error: (any Error)? = nil) { self.error = error }

        func token() async throws -> AccessToken {
            if let error { throw error }
            return AccessToken("token-\(number.withLock { $0 })")
        }

        func token(after refused: AccessToken) async throws -> AccessToken {
            number.withLock { $0 += 1 }
            return try await token()
        }
    }

    private func tokens(_ scripted: Scripted) -> [String?] {
        scripted.transport.calls.map { $0.head.headerFields[.authorization] }
    }

    private static let refused = ScriptedHTTPTransport.Answer.refusal(401, "UNAUTHENTICATED")
    private static let committed = ScriptedHTTPTransport.Answer.json(
        #"{"writeResults": [{}], "commitTime": "1970-01-01T00:00:05Z"}"#
    )

    @Test("requests are unauthenticated by default")
    func unsigned() async throws {
        let scripted = Scripted.google([.json("[]")])
        _ = try await scripted.adapter.read(ReadRequest(.query(DocumentQuery("a"))))
        #expect(tokens(scripted) == [nil])
    }

    @Test("a fixed token is sent with every request")
    func fixed() async throws {
        let scripted = Scripted.google([.json("[]")], authentication: .token("secret"))
        _ = try await scripted.adapter.read(ReadRequest(.query(DocumentQuery("a"))))
        #expect(tokens(scripted) == ["Bearer secret"])
    }

    @Test("a rejected token is renewed once, and the request retried")
    func renewed() async throws {
        let scripted = Scripted.google(
            [Self.refused, Self.committed],
            authentication: .idToken(Numbered())
        )
        try await scripted.commit([.delete("a/1")])
        #expect(tokens(scripted) == ["Bearer token-1", "Bearer token-2"])
    }

    @Test("a token rejected twice fails the request")
    func refusedTwice() async throws {
        let scripted = Scripted.google(
            [Self.refused, Self.refused, Self.committed],
            authentication: .source(Numbered())
        )
        await expect(.unauthenticated) { try await scripted.commit([.delete("a/1")]) }
        #expect(scripted.requests.count == 2)
    }

    @Test("a transient failure of the token source is a transient error")
    func failingSource() async throws {
        let cases: [(any Error, StorageError.Code)] = [
            (AuthenticationError(.signedOut), .unauthenticated),
            (AuthenticationError(.refreshFailed), .unavailable),
            (StorageError(.unavailable, "foreign"), .unavailable),
            (StorageError(.permissionDenied, "foreign"), .unauthenticated),
            (CancellationError(), .cancelled),
        ]
        for (error, code) in cases {
            let scripted = Scripted.google(authentication: .source(Numbered(failing: error)))
            await expect(code) { try await scripted.commit([.delete("a/1")]) }
            #expect(scripted.requests.isEmpty)
        }
    }

    /// The tokens of the user who is signed in; another user signs in during the first pause.
    private final class Switching: TokenSource, Clock {
        typealias Instant = ImmediateClock.Instant

        private let user = Mutex("ann")
        private let clock = ImmediateClock()

        var identity: String? { user.withLock { $0 } }
        var now: Instant { clock.now }
        var minimumResolution: Duration { clock.minimumResolution }

        func token() async throws -> AccessToken { AccessToken("token of \(user.withLock { $0 })") }

        func change() { user.withLock { $0 = "ben" } }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            change()
            try await clock.sleep(until: deadline, tolerance: tolerance)
        }
    }

    @Test("a commit is not repeated for another user, and one whose reply was lost says so")
    func oneUserForAllAttempts() async throws {
        let cases: [(failure: TransportError, effect: StorageError.Effect)] = [
            (TransportError(.connectionRefused), .none),
            (TransportError(.connectionLost), .unknown),
        ]
        for (failure, effect) in cases {
            let session = Switching()
            let scripted = try Scripted.keel(
                [.schema, .failure(failure), .keel("{}")],
                authentication: .source(session)
            )
            let storage = scripted.adapter.retrying(.attempts(3), clock: session)
            await expect(.unauthenticated, effect: effect) {
                let results = try await storage.commit([WriteBatch([.delete("a/1")])])
                _ = try #require(results.first).get()
            }
            #expect(tokens(scripted) == ["Bearer token of ann", "Bearer token of ann"])
            // The next commit is the new user's.
            _ = try? await storage.commit([WriteBatch([.delete("a/1")])])
            #expect(tokens(scripted).dropFirst(2) == ["Bearer token of ben"])
        }
    }

    @Test("a transaction does not commit for another user than the one for whom it has read")
    func oneUserForTransactions() async throws {
        let session = Switching()
        let store = InMemoryStorageAdapter()
        let address = try #require(URL(string: "http://127.0.0.1"))
        let server = FirestoreStorageAdapter.Configuration.keel(
            address,
            authentication: .source(session)
        )
        let transport = HandlerTransport(StorageServer(adapter: store))
        let storage = StorageClient(FirestoreStorageAdapter(server, transport: transport))
        await expect(.unauthenticated) {
            try await storage.transaction { transaction in
                _ = try await transaction.findDocument("a/1")
                try await session.sleep(until: session.now, tolerance: nil)
                try transaction.set("a/2", [:])
            }
        }
        #expect(try await StorageClient(store).findDocument("a/2") == nil)
    }

    /// A server; another user signs in after a number of replies to a method.
    private final class Interrupted: HTTPTransportDouble {
        let session = Switching()
        private let server: HandlerTransport
        private let method: String
        private let left: Mutex<Int>

        init(_ store: InMemoryStorageAdapter, after count: Int, _ method: String) {
            server = HandlerTransport(StorageServer(adapter: store))
            self.method = method
            left = Mutex(count)
        }

        var features: HTTPTransportFeatures { server.features }

        func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
            let reply = try await server.send(call)
            guard call.head.path?.hasSuffix(method) == true else { return reply }
            let count = left.withLock { left in
                left -= 1
                return left
            }
            if count == 0 { session.change() }
            return reply
        }
    }

    @Test("all requests of a call, an iteration or a series of pages are for one user")
    func oneUserForSeveralRequests() async throws {
        let store = InMemoryStorageAdapter(history: .seconds(3_600))
        let paths = (0..<400).map { DocumentPath("a/\($0)") }
        try await StorageClient(store).commit { batch in
            for path in paths { try batch.set(path, [:]) }
        }
        let address = try #require(URL(string: "http://127.0.0.1"))
        func adapter(after count: Int = 1, _ method: String) -> FirestoreStorageAdapter {
            let server = Interrupted(store, after: count, method)
            return FirestoreStorageAdapter(
                .keel(address, authentication: .source(server.session)),
                transport: server
            )
        }
        await expect(.unauthenticated) {
            _ = try await adapter(":batchGet").read(ReadRequest(.documents(paths)))
        }
        let query = DocumentQuery("a")
        await expect(.unauthenticated) {
            let storage = StorageClient(adapter(":runQuery"))
            for try await _ in storage.documents(matching: query) {}
        }
        await expect(.unauthenticated) {
            let storage = StorageClient(adapter(":runQuery"))
            _ = try await storage.page(query, size: 10).next()
        }
        await expect(.unauthenticated) {
            let storage = StorageClient(adapter(":runQuery"))
            _ = try await storage.collection("a", as: [String: String].self).deleteAll()
        }
        let migrations = DocumentMigrations([DocumentMigration("a", to: 1) { _, _ in }])
        await expect(.unauthenticated) {
            let storage = adapter(":batchGet").migrating(migrations)
            _ = try await storage.commit([WriteBatch([.delete(paths[0])])])[0].get()
        }
        let results = try await adapter(":commit").commit(
            paths.prefix(2).map { WriteBatch([.delete($0)]) }
        )
        _ = try results[0].get()
        await expect(.unauthenticated) { _ = try results[1].get() }
        // Ten batches with a call of the adapter, and one with another.
        let writes = (0..<5_001).map { DocumentWrite.delete(DocumentPath("b/\($0)")) }
        await expect(.unauthenticated, effect: .unknown) {
            let storage = StorageClient(adapter(after: 10, ":commit"))
            try await storage.commitInBatches(writes, for: "test", on: "b")
        }
    }

    // MARK: Listening

    /// A server that accepts a single token.
    private struct Guarded: HTTPTransportDouble {
        let server: HandlerTransport
        let token: String
        let seen = Seen()

        final class Seen: Sendable {
            let values = Mutex<[String?]>([])
        }

        var features: HTTPTransportFeatures { server.features }

        func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
            let field = call.head.headerFields[.authorization]
            seen.values.withLock { $0.append(field) }
            guard field == "Bearer \(token)" else {
                return .bytes(.unauthorized, type: "text/plain", [])
            }
            return try await server.send(call)
        }
    }

    private func feed(
        knowing token: String
    ) throws -> (adapter: FirestoreStorageAdapter, server: Guarded) {
        let store = InMemoryStorageAdapter()
        let server = Guarded(server: HandlerTransport(StorageServer(adapter: store)), token: token)
        let address = try #require(URL(string: "http://127.0.0.1"))
        var configuration = FirestoreStorageAdapter.Configuration.keel(address)
        configuration.authentication = .source(Numbered())
        // Generous, for busy machines.
        configuration.timeout = .seconds(3600)
        return (FirestoreStorageAdapter(configuration, transport: server), server)
    }

    @Test("a rejected changes request is retried with a new token")
    func changesRenewed() async throws {
        let (adapter, server) = try feed(knowing: "token-2")
        let page = try await adapter.changes(ChangeRequest(after: nil, limit: 10))
        #expect(page.isCaughtUp)
        let seen = server.seen.values.withLock { $0 }
        #expect(seen.prefix(2) == ["Bearer token-1", "Bearer token-2"])
        #expect(seen.dropFirst().allSatisfy { $0 == "Bearer token-2" })
    }

    @Test("a changes request rejected twice fails")
    func changesRefusedTwice() async throws {
        let (adapter, server) = try feed(knowing: "another")
        await expect(.unauthenticated) {
            _ = try await adapter.changes(ChangeRequest(after: nil, limit: 10))
        }
        let seen = server.seen.values.withLock { $0 }
        #expect(seen == ["Bearer token-1", "Bearer token-2"])
    }

    @Test("a user's positions expire for the next one, also after another reader has been told")
    func positionsOfUsers() async throws {
        let session = Switching()
        let address = try #require(URL(string: "http://127.0.0.1"))
        let adapter = FirestoreStorageAdapter(
            .keel(address, authentication: .source(session)),
            transport: HandlerTransport(StorageServer(adapter: InMemoryStorageAdapter()))
        )
        let query = DocumentQuery("a")
        var read = ReadRequest(.query(query))
        read.needsPosition = true
        let receipt = try #require(try await adapter.commit([WriteBatch([.delete("a/1")])]).first)
        let positions: [ChangeCursor?] = [
            try await adapter.read(read).position, try receipt.get().position,
            try await adapter.changes(ChangeRequest()).next,
        ]
        let result = try await adapter.changes(ChangeRequest(followingResultOf: query)).next
        try await session.sleep(until: session.now, tolerance: nil)
        _ = try await adapter.changes(ChangeRequest())
        for position in positions {
            let former = try #require(position)
            await expect(.cursorExpired) {
                _ = try await adapter.changes(ChangeRequest(after: former))
            }
        }
        await expect(.cursorExpired) {
            let request = ChangeRequest(after: result, followingResultOf: query)
            _ = try await adapter.changes(request)
        }
    }

    @Test("an emulator is accessed as owner at the host from the environment")
    func emulator() async throws {
        let variables = ["FIRESTORE_EMULATOR_HOST": "localhost:9099"]
        let configuration = try #require(
            FirestoreStorageAdapter.Configuration.emulatorFromEnvironment(
                project: "p",
                environment: variables
            )
        )
        let scripted = Scripted(configuration, [.json("[]")])
        _ = try await scripted.adapter.read(ReadRequest(.query(DocumentQuery("a"))))
        #expect(tokens(scripted) == ["Bearer owner"])
        let head = try #require(scripted.transport.calls.first?.head)
        #expect(head.scheme == "http")
        #expect(head.authority == "localhost:9099")
        for environment in [[:], ["FIRESTORE_EMULATOR_HOST": ""]] {
            let none = FirestoreStorageAdapter.Configuration.emulatorFromEnvironment(
                project: "p",
                environment: environment
            )
            #expect(none == nil)
        }
    }
}
