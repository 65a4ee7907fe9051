import HTTPTypes
import KeelCore
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Commits over the Firestore protocol")
struct CommitTests {
    private static let increment = DocumentWrite.update(
        "a/1",
        [FieldChange("n", .transform(.increment(1)))]
    )

    private static func reply(_ results: String) -> String {
        #"{"writeResults": [\#(results)], "commitTime": "1970-01-01T00:00:05Z"}"#
    }

    private static let one = reply(#"{"updateTime": "1970-01-01T00:00:05Z"}"#)

    @Test("an error of the only write names its document, even if the server does not")
    func namesTheDocument() async throws {
        let scripted = Scripted.google([.refusal(404, "NOT_FOUND"), .refusal(404, "NOT_FOUND")])
        let error = await expect(.documentNotFound) {
            try await scripted.commit([.delete("a/1", if: .exists)])
        }
        #expect(error?.resource == "a/1")
        let other = await expect(.documentNotFound) {
            try await scripted.commit([.delete("a/1", if: .exists), .delete("a/2", if: .exists)])
        }
        #expect(other?.resource == nil)
    }

    @Test("an empty commit without a time has that of a read")
    func emptyCommit() async throws {
        let scripted = Scripted.google([
            .json("{}"), .json("[]"),
            .json(
                #"""
                [{"missing": "projects/p/databases/(default)/documents/keel/time",
                "readTime": "1970-01-01T00:00:01Z"}]
                """#
            ),
        ])
        let receipt = try await scripted.commit([])
        #expect(receipt.commitTime == Timestamp(microseconds: 1_000_000))
    }

    @Test("each batch is one request, in order, and a failed one does not stop the next")
    func several() async throws {
        let scripted = Scripted.google([
            .json(Self.one), .refusal(404, "NOT_FOUND", "No document to update: x"),
            .json(Self.one),
        ])
        let batches = ["a/1", "a/2", "a/3"].map { WriteBatch([.delete(DocumentPath($0))]) }
        let results = try await scripted.adapter.commit(batches)
        let codes = results.map { result -> StorageError.Code? in
            if case .failure(let error) = result { error.code } else { nil }
        }
        #expect(codes == [nil, .documentNotFound, nil])
        let path = "POST /v1/projects/p/databases/%28default%29/documents:commit"
        #expect(scripted.requests == [path, path, path])
        let names = try (0..<3).map {
            try scripted.message($0)["writes"]?.elements?.first?["delete"]
        }
        let root = "projects/p/databases/(default)/documents/"
        #expect(names == ["a/1", "a/2", "a/3"].map { .string(root + $0) })
    }

    @Test("a lost connection is waited for once, and the batches after it are not sent")
    func unreachable() async throws {
        let scripted = Scripted.google([.json(Self.one), .failure(TransportError(.connectionLost))])
        let batches = ["a/1", "a/2", "a/3", "a/4"].map { WriteBatch([.delete(DocumentPath($0))]) }
        let results = try await scripted.adapter.commit(batches)
        let effects = results.map { result -> StorageError.Effect? in
            guard case .failure(let error) = result else { return nil }
            #expect(error.code == .unavailable)
            return error.effect
        }
        #expect(effects == [nil, .unknown, StorageError.Effect.none, StorageError.Effect.none])
        #expect(scripted.requests.count == 2)
    }

    @Test("a receipt contains the revisions after the entire batch")
    func settled() async throws {
        let results =
            #"{"updateTime": "1970-01-01T00:00:05Z"}, {}, {"updateTime": "#
            + #""1970-01-01T00:00:05Z", "transformResults": [{"integerValue": "4"}]}"#
        let scripted = Scripted.google([.json(Self.reply(results))])
        let set = DocumentWrite("a/1", .set(DocumentBody(["n": 1])))
        let receipt = try await scripted.commit([
            set, .delete("a/1"),
            .update("a/2", [FieldChange("n", .transform(.increment(1)))]),
        ])
        #expect(receipt.outcomes.map(\.revision) == [nil, nil, Revision(number: 5_000_000)])
        #expect(receipt.outcomes.last?.transformResults == [4])
        #expect(receipt.commitTime == Timestamp(microseconds: 5_000_000))
        #expect(receipt.position == nil)
    }

    @Test("a revision condition is sent as an update time")
    func plainRevision() async throws {
        let scripted = Scripted.google([.json(Self.one)])
        let condition = WriteCondition.revision(Revision(number: 1_000_002))
        try await scripted.commit([.delete("a/1", if: condition)])
        let write = try scripted.message(0)["writes"]?.elements?.first
        #expect(write?["currentDocument"] == ["updateTime": "1970-01-01T00:00:01.000002Z"])
    }

    @Test("writes that Google's Firestore would ignore are rejected before sending")
    func refusals() async throws {
        let scripted = Scripted.google()
        let replica = Document.stub("a/1", at: Timestamp(microseconds: 1))
        await expect(.unsupported) { try await scripted.commit(id: "once", [Self.increment]) }
        await expect(.unsupported) {
            try await scripted.commit([DocumentWrite("a/1", .replicate(replica))])
        }
        #expect(scripted.requests.isEmpty)
    }

    @Test("a server is checked once for Keel's protocol before the first batch")
    func handshake() async throws {
        let reply =
            #"{"writeResults": [{"updateTime": "1970-01-01T00:00:05Z", "#
            + #""keel": {"revision": "9"}}], "commitTime": "1970-01-01T00:00:05Z", "#
            + #""keel": {"position": "AQ"}}"#
        let scripted = try Scripted.keel([.schema, .keel(reply), .keel(reply)])
        let receipt = try await scripted.commit(id: "once", [Self.increment])
        try await scripted.commit([Self.increment])
        #expect(receipt.revision == Revision(number: 9))
        #expect(receipt.batchID == "once")
        #expect(receipt.position == ChangeCursor(bytes: [1]))
        let path = "POST /v1/projects/keel/databases/%28default%29/documents:commit"
        #expect(scripted.requests == ["GET /keel/v1/schema", path, path])
        #expect(try scripted.message(1)["keel"]?["batchId"] == "once")
    }

    @Test(
        "a batch with an id is not sent to a server that would ignore it",
        arguments: [
            .json("{}"), .status(.notFound, body: Array("<html>".utf8)), .refusal(404, "NOT_FOUND"),
        ] as [ScriptedHTTPTransport.Answer]
    )
    func strangers(answer: ScriptedHTTPTransport.Answer) async throws {
        let scripted = try Scripted.keel([answer])
        await expect(.invalidReply) { try await scripted.commit(id: "once", [Self.increment]) }
        #expect(scripted.requests == ["GET /keel/v1/schema"])
    }

    @Test(
        "an unreadable reply leaves the effect unknown",
        arguments: [
            "", "{", "[]", #"{"writeResults": []}"#, reply("{}, {}"),
            #"{"writeResults": [{"transformResults": [3]}], "commitTime": "1970-01-01T00:00:05Z"}"#,
            #"{"writeResults": [{}], "commitTime": "now"}"#,
        ]
    )
    func malformed(text: String) async {
        let scripted = Scripted.google([.json(text)])
        await expect(.invalidReply, effect: .unknown) {
            try await scripted.commit([Self.increment])
        }
    }

    // MARK: Repetitions

    @Test("the first receipt of an id applies, even if it was for other writes")
    func firstReceipt() async throws {
        let scripted = try Scripted.keel([.schema, .keel(Self.one)])
        let receipt = try await scripted.commit(id: "once", [.delete("a/1"), .delete("a/2")])
        #expect(receipt.outcomes.count == 1)
    }

    private static let lost = ScriptedHTTPTransport.Answer.failure(
        TransportError(.connectionLost, phase: .awaitHead)
    )

    @Test("an increment whose reply was lost is not retried on Google's Firestore")
    func neverTwice() async throws {
        let scripted = Scripted.google([Self.lost, .json(Self.one)])
        let retrying = scripted.adapter.retrying(.attempts(3), clock: ImmediateClock())
        let results = try? await retrying.commit([WriteBatch([Self.increment])])
        #expect(results == nil || results?.count == 1)
        #expect(scripted.requests.count == 1)
    }

    @Test("an increment that was never sent is retried")
    func sentAgain() async throws {
        let refused = ScriptedHTTPTransport.Answer.failure(TransportError(.connectionRefused))
        let contention = ScriptedHTTPTransport.Answer.refusal(409, "ABORTED")
        let scripted = Scripted.google([refused, contention, .json(Self.one)])
        let retrying = scripted.adapter.retrying(.attempts(3), clock: ImmediateClock())
        let results = try await retrying.commit([WriteBatch([Self.increment])])
        _ = try #require(results.first).get()
        #expect(scripted.requests.count == 3)
    }

    @Test("a Keel server receives a retried batch with the same id")
    func idempotent() async throws {
        let scripted = try Scripted.keel([
            .schema, Self.lost, .refusal(503, "UNAVAILABLE"), .keel(Self.one),
        ])
        let retrying = scripted.adapter.retrying(.attempts(4), clock: ImmediateClock())
        let results = try await retrying.commit([WriteBatch([Self.increment])])
        let receipt = try #require(results.first).get()
        #expect(scripted.requests.count == 4)
        let ids = try (1...3).map { try scripted.message($0)["keel"]?["batchId"]?.text }
        #expect(Set(ids).count == 1)
        #expect(ids.first == receipt.batchID)
    }
}
