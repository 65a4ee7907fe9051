import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Transactions of the plain Firestore protocol")
struct TransactionTests {
    private static let begun = ScriptedHTTPTransport.Answer.json(#"{"transaction": "dG9rZW4="}"#)
    private static let committed = ScriptedHTTPTransport.Answer.json(
        #"{"writeResults": [{}], "commitTime": "1970-01-01T00:00:05Z"}"#
    )
    private static let ended = ScriptedHTTPTransport.Answer.json("{}")

    private static func found(_ second: Int) -> ScriptedHTTPTransport.Answer {
        .json(#"[{"found": \#(document("a/1", second: second))}]"#)
    }

    private static func result(_ seconds: [String: Int]) -> ScriptedHTTPTransport.Answer {
        let elements = seconds.sorted { $0.key < $1.key }.map { path, second in
            #"{"document": \#(document(path, second: second))}"#
        }
        return .json("[\(elements.joined(separator: ","))]")
    }

    private static let reads = TransactionReads(
        documents: [.init(path: "a/1", revision: Revision(number: 1_000_002))],
        queries: [
            .init(
                query: DocumentQuery("q").order(by: "n").select("n"),
                found: [.init(path: "q/1", revision: Revision(number: 2_000_002))]
            )
        ]
    )

    private static let write = DocumentWrite.delete("a/1")

    private func methods(_ scripted: Scripted) -> [String] {
        scripted.requests.map { String($0.split(separator: ":").last ?? "") }
    }

    @Test("reads are repeated in a transaction, which then commits")
    func commits() async throws {
        let scripted = Scripted.google([
            Self.begun, Self.found(1), Self.result(["q/1": 2]), Self.committed,
        ])
        try await scripted.commit([Self.write], reads: Self.reads)
        #expect(methods(scripted) == ["beginTransaction", "batchGet", "runQuery", "commit"])
        #expect(try scripted.message(0)["options"]?["readWrite"] != nil)
        for position in 1...3 {
            #expect(try scripted.message(position)["transaction"] == "dG9rZW4=")
        }
        // Only revisions are read.
        let fields = try scripted.message(2)["structuredQuery"]?["select"]?["fields"]
        #expect(fields == [["fieldPath": "__name__"]])
    }

    @Test("a changed document is a conflict and rolls the transaction back")
    func changedDocument() async throws {
        let scripted = Scripted.google([Self.begun, Self.found(3), Self.ended])
        let error = await expect(.conflict) {
            try await scripted.commit([Self.write], reads: Self.reads)
        }
        #expect(error?.resource == "a/1")
        #expect(methods(scripted) == ["beginTransaction", "batchGet", "rollback"])
        #expect(try scripted.message(2)["transaction"] == "dG9rZW4=")
    }

    @Test(
        "a changed query result is a conflict",
        arguments: [[:], ["q/1": 3], ["q/2": 2], ["q/1": 2, "q/2": 2]] as [[String: Int]]
    )
    func changedResult(seconds: [String: Int]) async throws {
        let scripted = Scripted.google([
            Self.begun, Self.found(1), Self.result(seconds), Self.ended,
        ])
        await expect(.conflict) { try await scripted.commit([Self.write], reads: Self.reads) }
        #expect(methods(scripted).last == "rollback")
    }

    @Test("an aborted commit is a conflict")
    func aborted() async throws {
        let scripted = Scripted.google([
            Self.begun, Self.found(1), Self.result(["q/1": 2]), .refusal(409, "ABORTED"),
            Self.ended,
        ])
        await expect(.conflict) { try await scripted.commit([Self.write], reads: Self.reads) }
        #expect(methods(scripted).last == "rollback")
    }

    @Test("a transaction that the server has ended is a conflict, at a read and at the commit")
    func expired() async throws {
        let expired = ScriptedHTTPTransport.Answer.refusal(
            400,
            "INVALID_ARGUMENT",
            "The referenced transaction has expired or is no longer valid."
        )
        for before in [[], [Self.found(1), Self.result(["q/1": 2])]] {
            let scripted = Scripted.google([Self.begun] + before + [expired, Self.ended])
            await expect(.conflict) { try await scripted.commit([Self.write], reads: Self.reads) }
            #expect(methods(scripted).last == "rollback")
        }
    }

    @Test("a failure before the commit has no effect, a failed commit has an unknown effect")
    func effects() async throws {
        let lost = ScriptedHTTPTransport.Answer.failure(TransportError(.connectionLost))
        let early = Scripted.google([Self.begun, lost, Self.ended])
        await expect(.unavailable) { try await early.commit([Self.write], reads: Self.reads) }
        #expect(methods(early) == ["beginTransaction", "batchGet", "rollback"])
        let late = Scripted.google([Self.begun, Self.found(1), Self.result(["q/1": 2]), lost])
        await expect(.unavailable, effect: .unknown) {
            try await late.commit([Self.write], reads: Self.reads)
        }
        #expect(methods(late).last == "commit")
    }

    @Test("a failed rollback does not hide the original error")
    func failedRollback() async throws {
        let scripted = Scripted.google([Self.begun, Self.found(3), .refusal(500, "INTERNAL")])
        await expect(.conflict) { try await scripted.commit([Self.write], reads: Self.reads) }
    }

    @Test(
        "a transaction of a canceled call is rolled back, so that the server releases its locks",
        .timeLimit(.minutes(1))
    )
    func canceled() async throws {
        let gate = Gate()
        let (reads, read) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let held = ScriptedHTTPTransport.Answer { _ async throws(TransportError) in
            read.yield()
            _ = try? await gate.pass()
            throw TransportError(.cancelled)
        }
        let ended = ScriptedHTTPTransport.Answer { _ async throws(TransportError) in
            end.yield()
            return HTTPReply(head: HTTPResponse(status: .ok))
        }
        let scripted = Scripted.google([Self.begun, held, ended])
        let call = Task { try await scripted.commit([Self.write], reads: Self.reads) }
        _ = await reads.first { _ in true }
        call.cancel()
        await expect(.cancelled) { _ = try await call.value }
        _ = await ends.first { _ in true }
        #expect(methods(scripted) == ["beginTransaction", "batchGet", "rollback"])
        #expect(try scripted.message(2)["transaction"] == "dG9rZW4=")
    }

    @Test("a transaction without a token is reported as an invalid reply")
    func noToken() async throws {
        let scripted = Scripted.google([Self.ended])
        await expect(.invalidReply) { try await scripted.commit([Self.write], reads: Self.reads) }
        #expect(scripted.requests.count == 1)
    }

    @Test("a Keel server receives the reads with the batch")
    func additions() async throws {
        let scripted = try Scripted.keel([
            .schema, .keel(#"{"writeResults": [{}], "commitTime": "1970-01-01T00:00:05Z"}"#),
        ])
        try await scripted.commit([Self.write], reads: Self.reads)
        #expect(scripted.requests.count == 2)
        let reads = try scripted.message(1)["keel"]?["reads"]
        #expect(reads?["documents"]?.elements?.first?["revision"] == "1000002")
        #expect(reads?["queries"]?.elements?.first?["found"]?.elements?.count == 1)
    }
}
