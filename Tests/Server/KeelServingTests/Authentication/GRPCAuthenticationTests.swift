import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Synchronization
import Testing

@testable import KeelServing

@Suite("Authentication over gRPC", .timeLimit(.minutes(1)))
struct GRPCAuthenticationTests {
    private let store = PrincipalStore()
    private let served: Served

    init() { served = Served(store) { $0.authenticate = TestUsers.authenticate } }

    private static let name: FirestoreJSON = ["name": .string(Served.name("a/1"))]

    @Test("A call without a known token is UNAUTHENTICATED before its message is read")
    func calls() async throws {
        let untouched = HTTPBody(length: nil, isReplayable: false) {
            Issue.record("The body has been read.")
            return .empty
        }
        for method in [GRPCMethod.getDocument, .listen, .write] {
            for (fields, part) in [(HTTPFields(), "missing"), (TestUsers.stranger, "unknown")] {
                let call = Served.call(method.rawValue, untouched, fields)
                let answer = try await GRPCAnswer(await served.server.respond(to: call), of: nil)
                #expect(answer.head.status == .ok)
                #expect(answer.status == 16)
                #expect(answer.message?.contains(part) == true)
            }
        }
        #expect(store.ids.isEmpty)
        #expect(try await served.call(.getDocument, Self.name, TestUsers.ann).status == 5)
        #expect(Set(store.ids) == ["ann"])
        store.forget()
        #expect(try await served.call(.getDocument, Self.name, TestUsers.guest).status == 5)
        #expect(Set(store.ids) == [nil])
    }

    @Test("A stream reads and writes on behalf of its principal")
    func streams() async throws {
        let writer = await GRPCStreamClient(.write, of: served, TestUsers.bob)
        try writer.send(["database": .string(Served.database)])
        let greeting = try #require(try await writer.next())
        let token = try #require(greeting["streamToken"])
        let write = try FirestoreJSON(parsing: Array(Served.write("a/1", n: 1).utf8))
        try writer.send(["streamToken": token, "writes": [write]])
        #expect(try await writer.next()?["writeResults"]?.elements?.count == 1)
        #expect(Set(store.ids) == ["bob"])
        writer.finish()
        #expect(try await writer.status() == 0)

        store.forget()
        let listener = await GRPCStreamClient(.listen, of: served, TestUsers.ann)
        try listener.send(.addTarget(7, "a"))
        while let message = try await listener.next(), message["documentChange"] == nil {}
        #expect(store.ids.contains("ann"))
        #expect(!store.ids.contains("bob"))
        listener.finish()
        #expect(try await listener.status() == 0)
    }

    /// What a rule was asked, and whether it allows a collection.
    private final class Rule: Sendable {
        private let asked = Mutex<[String]>([])
        private let denied = Mutex<Set<String>>([])

        var questions: [String] { asked.withLock { $0 } }

        func deny(_ collection: String) { denied.withLock { _ = $0.insert(collection) } }

        func permission(
            _ content: ListenTarget.Content,
            _ principal: StoragePrincipal?
        ) -> ListenPermission {
            guard case .query(let query) = content else { return .granted(for: nil) }
            let collection = query.scope == DocumentQuery("a").scope ? "a" : "b"
            asked.withLock { $0.append("\(principal?.id ?? "nobody") \(collection)") }
            return denied.withLock { $0.contains(collection) }
                ? .denied(StreamFailure(.permissionDenied, "not any more"))
                : .granted(for: .seconds(3_600))
        }
    }

    /// Reads until a target is removed, and returns its number.
    private static func removed(_ client: GRPCStreamClient) async throws -> Int64? {
        while let message = try await client.next() {
            guard let change = message["targetChange"],
                change["targetChangeType"]?.text == "REMOVE"
            else { continue }
            #expect(change["cause"]?["code"]?.wholeNumber == 7)
            return change["targetIds"]?.elements?.first?.wholeNumber
        }
        return nil
    }

    /// Reads until all targets are consistent.
    private static func settle(_ client: GRPCStreamClient) async throws {
        while let message = try await client.next() {
            let change = message["targetChange"]
            if let change, change["targetIds"] == nil, change["readTime"] != nil { return }
        }
    }

    @Test("A rule is asked with the principal at the start, at a change, and at expiry")
    func permissions() async throws {
        let rule = Rule()
        let served = Served(store) { configuration in
            configuration.authenticate = TestUsers.authenticate
            configuration.permission = { rule.permission($0, $1) }
        }
        let client = await GRPCStreamClient(.listen, of: served, TestUsers.ann)
        try client.send(.addTarget(1, "a"))
        try await Self.settle(client)
        #expect(rule.questions == ["ann a"])
        try client.send(.addTarget(2, "b"))
        try await Self.settle(client)
        #expect(rule.questions.contains("ann b"))

        let asked = rule.questions.count
        rule.deny("a")
        let written = try await served.send(
            .patch,
            path: "\(Served.root)/a/1",
            Array(#"{"fields":{}}"#.utf8),
            TestUsers.bob
        )
        #expect(written.status == 200)
        #expect(try await Self.removed(client) == 1)
        // Before the change, the rule is asked for both targets, and the removal may arrive in between.
        try await waitUntil { rule.questions.count == asked + 2 }

        rule.deny("b")
        await served.clock.advance(by: .seconds(3_600))
        #expect(try await Self.removed(client) == 2)
        #expect(rule.questions.allSatisfy { $0.hasPrefix("ann ") })
        client.finish()
        #expect(try await client.status() == 0)
    }
}
