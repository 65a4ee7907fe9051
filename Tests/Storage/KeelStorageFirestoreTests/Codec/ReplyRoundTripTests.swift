import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelConformance

@Suite("Round trips of replies")
struct ReplyRoundTripTests {
    private static let database = "projects/keel/databases/(default)"
    private static let encoding = FirestoreEncoding(database: database, isExtended: true)
    private static let decoding = FirestoreDecoding(database: database, isExtended: true)

    private func sent(_ json: FirestoreJSON) throws -> FirestoreJSON {
        try FirestoreJSON(parsing: json.bytes)
    }

    @Test("a document is decoded unchanged")
    func documents() throws {
        var source = FuzzSource(seed: SeededRandom.printedSeed(), name: "fuzz")
        for number in 1...500 {
            let document = Document(
                path: source.path(),
                body: DocumentBody(source.fields()),
                revision: Revision(number: Int64(number)),
                createTime: Timestamp(microseconds: Int64(number)),
                updateTime: Timestamp(microseconds: Int64(number) * 1_000_001)
            )
            let read = try Self.decoding.document(try sent(try Self.encoding.document(document)))
            #expect(read == document)
        }
    }

    @Test("without Keel's extensions, a document's revision is its update time")
    func plainRevision() throws {
        let document = Document(
            path: "a/1",
            body: DocumentBody(["n": 1]),
            revision: Revision(number: 17),
            createTime: Timestamp(microseconds: 1),
            updateTime: Timestamp(microseconds: 1_000_002)
        )
        let json = try FirestoreEncoding(database: Self.database).document(document)
        #expect(json["keel"] == nil)
        let read = try FirestoreDecoding(database: Self.database).document(try sent(json))
        #expect(read.revision == Revision(number: 1_000_002))
    }

    @Test("a receipt is decoded unchanged")
    func receipts() throws {
        let batch = WriteBatch(id: "once", [.delete("a/1"), .delete("a/2"), .delete("a/3")])
        let receipt = CommitReceipt(
            batchID: "once",
            commitTime: Timestamp(microseconds: 77),
            outcomes: [
                .init(revision: nil, updateTime: nil),
                .init(revision: nil, updateTime: Timestamp(microseconds: 55)),
                .init(
                    revision: Revision(number: 9),
                    updateTime: Timestamp(microseconds: 66),
                    transformResults: [3, .null, .double(.nan)]
                ),
            ],
            position: ChangeCursor(bytes: [0, 255, 17])
        )
        let read = try Self.decoding.receipt(try sent(Self.encoding.receipt(receipt)), for: batch)
        #expect(read == receipt)
        // Firestore's own members do not include the time of a deletion.
        let plain = FirestoreEncoding(database: Self.database).receipt(receipt)
        #expect(
            plain["writeResults"]?.elements?.map { $0["updateTime"] != nil } == [
                false, false, true,
            ]
        )
        let results = try #require(plain["writeResults"]?.elements)
        let areTold = results.map { $0["updateTime"] != nil }
        #expect(areTold == [false, false, true])
        #expect(results[1]["keel"] == nil)
    }

    @Test(
        "an error is decoded with its code, effect and resource",
        arguments: StorageError.Code.known
    )
    func errors(code: StorageError.Code) throws {
        for effect in [StorageError.Effect.none, .unknown] {
            let error = StorageError(code, "what happened", effect: effect, resource: "a/1")
            let status = FirestoreStatus(error)
            let json = try sent(FirestoreEncoding.error(error, status: status))
            let read = FirestoreDecoding.error(httpStatus: status.httpStatus, json, isWrite: true)
            // To clients, a closed store is temporarily unavailable.
            let expected = code == .closed ? .unavailable : code
            #expect(read.code == expected)
            #expect(read.effect == effect)
            #expect(read.message == "what happened")
            #expect(read.resource == "a/1")
            let ofRead = FirestoreDecoding.error(
                httpStatus: status.httpStatus,
                .array([json]),
                isWrite: false
            )
            #expect(ofRead.code == expected)
            #expect(ofRead.effect == .none)
        }
    }

    @Test("a schema and a plan are decoded unchanged")
    func schemas() throws {
        let index = IndexDefinition(
            "c",
            scope: .group,
            [.ascending("a"), .descending("b.`x.y`"), .contains("l")]
        )
        let schema = StorageSchema(
            indexes: [index],
            searches: [SearchDefinition("c", fields: ["text", "m.x"])]
        )
        let read = try Self.decoding.schema(try sent(FirestoreEncoding.schema(schema)))
        #expect(read == schema)
        let plans: [QueryPlan] = [
            QueryPlan(access: .index("one"), examined: 3),
            QueryPlan(access: .identifiers), QueryPlan(access: .search("words"), examined: 1),
            QueryPlan(access: .scan, examined: 9, suggestion: index),
        ]
        for plan in plans {
            #expect(try Self.decoding.plan(try sent(FirestoreEncoding.plan(plan))) == plan)
        }
    }
}
