import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelServing

@Suite("Methods over gRPC")
struct GRPCMethodTests {
    private static let root = FirestoreJSON.string("\(Served.database)/documents")
    private static let database = FirestoreJSON.string(Served.database)

    private static func name(_ path: String) -> FirestoreJSON { .string(Served.name(path)) }

    private static func filled() async throws -> Served {
        let served = Served()
        for number in 1...3 {
            let answer = try await served.call(
                .createDocument,
                [
                    "parent": root, "collectionId": "notes", "documentId": .string("\(number)"),
                    "document": ["fields": ["n": ["integerValue": .string("\(number)")]]],
                ]
            )
            try #require(answer.status == 0)
        }
        return served
    }

    @Test("a document is created, read, changed and deleted")
    func documents() async throws {
        let served = Served()
        let created = try await served.call(
            .createDocument,
            [
                "parent": Self.root, "collectionId": "notes", "documentId": "1",
                "document": ["fields": ["a": ["stringValue": "é"], "b": ["booleanValue": false]]],
            ]
        )
        #expect(created.status == 0)
        #expect(created.head.status == .ok)
        #expect(created.head.headerFields[.contentType] == "application/grpc+proto")
        #expect(created.messages.first?["name"] == Self.name("notes/1"))

        let again = try await served.call(
            .createDocument,
            ["parent": Self.root, "collectionId": "notes", "documentId": "1", "document": [:]]
        )
        #expect(again.status == 6)
        #expect(again.messages.isEmpty)

        let read = try await served.call(.getDocument, ["name": Self.name("notes/1")])
        #expect(read.messages == created.messages)
        let part = try await served.call(
            .getDocument,
            ["name": Self.name("notes/1"), "mask": ["fieldPaths": ["b"]]]
        )
        #expect(part.messages.first?["fields"] == ["b": ["booleanValue": false]])

        let changed = try await served.call(
            .updateDocument,
            [
                "document": ["name": Self.name("notes/1"), "fields": ["a": ["stringValue": "x"]]],
                "updateMask": ["fieldPaths": ["a", "b"]], "mask": ["fieldPaths": ["a", "b"]],
                "currentDocument": ["exists": true],
            ]
        )
        #expect(changed.messages.first?["fields"] == ["a": ["stringValue": "x"]])
        let time = try #require(changed.messages.first?["updateTime"])

        let refused = try await served.call(
            .deleteDocument,
            [
                "name": Self.name("notes/1"),
                "currentDocument": ["updateTime": "2001-01-01T00:00:00Z"],
            ]
        )
        #expect(refused.status == 9)
        let deleted = try await served.call(
            .deleteDocument,
            ["name": Self.name("notes/1"), "currentDocument": ["updateTime": time]]
        )
        #expect(deleted.status == 0)
        #expect(deleted.messages.count == 1)
        #expect(try await served.call(.getDocument, ["name": Self.name("notes/1")]).status == 5)
    }

    @Test("an empty mask of an update changes nothing")
    func emptyMask() async throws {
        let served = try await Self.filled()
        let changed = try await served.call(
            .updateDocument,
            [
                "document": ["name": Self.name("notes/1"), "fields": ["n": ["integerValue": "9"]]],
                "updateMask": [:],
            ]
        )
        #expect(changed.messages.first?["fields"] == ["n": ["integerValue": "1"]])
    }

    @Test("documents are listed in pages")
    func listing() async throws {
        let served = try await Self.filled()
        var request: FirestoreJSON = [
            "parent": Self.root, "collectionId": "notes", "pageSize": .integer(2),
            "orderBy": "n desc",
        ]
        let first = try await served.call(.listDocuments, request)
        #expect(first.messages.first?["documents"]?.elements?.count == 2)
        let token = try #require(first.messages.first?["nextPageToken"])
        request = .object((request.members ?? []) + [.init("pageToken", token)])
        let second = try await served.call(.listDocuments, request)
        let documents = second.messages.first?["documents"]?.elements
        #expect(documents?.map { $0["name"] } == [Self.name("notes/1")])
        let ids = try await served.call(.listCollectionIDs, ["parent": Self.root])
        #expect(ids.messages == [["collectionIds": ["notes"]]])
    }

    @Test("several documents are one message each, and nothing is one with the time")
    func batchGet() async throws {
        let served = try await Self.filled()
        let answer = try await served.call(
            .batchGetDocuments,
            [
                "database": Self.database,
                "documents": [Self.name("notes/1"), Self.name("notes/9"), Self.name("notes/2")],
                "newTransaction": ["readOnly": [:]],
            ]
        )
        #expect(answer.status == 0)
        #expect(answer.messages.count == 3)
        #expect(answer.messages.first?["transaction"] != nil)
        #expect(answer.messages.last?["missing"] == Self.name("notes/9"))
        let none = try await served.call(.batchGetDocuments, ["database": Self.database])
        #expect(none.messages.count == 1)
        #expect(none.messages.first?.members?.map(\.name) == ["readTime"])
    }

    @Test("queries, aggregations and partitions are answered")
    func queries() async throws {
        let served = try await Self.filled()
        let query: FirestoreJSON = [
            "from": [["collectionId": "notes"]],
            "where": [
                "fieldFilter": [
                    "field": ["fieldPath": "n"], "op": "GREATER_THAN",
                    "value": ["integerValue": "1"],
                ]
            ],
            "orderBy": [["field": ["fieldPath": "n"], "direction": "DESCENDING"]],
            "limit": .integer(5),
        ]
        let found = try await served.call(
            .runQuery,
            [
                "parent": Self.root, "structuredQuery": query,
                "explainOptions": ["analyze": true],
            ]
        )
        #expect(found.status == 0)
        let documents = found.messages.compactMap { $0["document"]?["name"] }
        #expect(documents == [Self.name("notes/3"), Self.name("notes/2")])
        let metrics = found.messages.last?["explainMetrics"]
        #expect(metrics?["executionStats"]?["resultsReturned"] == "2")
        #expect(metrics?["executionStats"]?["debugStats"]?["documents_scanned"] != nil)

        let count = try await served.call(
            .runAggregationQuery,
            [
                "parent": Self.root,
                "structuredAggregationQuery": [
                    "structuredQuery": ["from": [["collectionId": "notes"]]],
                    "aggregations": [["alias": "n", "count": ["upTo": "2"]]],
                ],
            ]
        )
        #expect(count.messages.first?["result"]?["aggregateFields"] == ["n": ["integerValue": "2"]])
        let parts = try await served.call(
            .partitionQuery,
            [
                "parent": Self.root, "partitionCount": "1",
                "structuredQuery": ["from": [["collectionId": "notes", "allDescendants": true]]],
            ]
        )
        #expect(parts.status == 0)
        #expect(parts.messages.count == 1)
        let refused = try await served.call(.runQuery, ["parent": Self.root])
        #expect(refused.status == 3)
    }

    @Test("a transaction commits, aborts and is given up")
    func transactions() async throws {
        let served = try await Self.filled()
        func begin() async throws -> FirestoreJSON {
            let answer = try await served.call(
                .beginTransaction,
                ["database": Self.database, "options": ["readWrite": [:]]]
            )
            return try #require(answer.messages.first?["transaction"])
        }
        func commit(_ token: FirestoreJSON?, _ number: String) async throws -> GRPCAnswer {
            try await served.call(
                .commit,
                .members([
                    "database": Self.database, "transaction": token,
                    "writes": [
                        [
                            "update": [
                                "name": Self.name("notes/1"),
                                "fields": ["n": ["integerValue": .string(number)]],
                            ]
                        ]
                    ],
                ])
            )
        }
        for isDisturbed in [false, true] {
            let token = try await begin()
            let read = try await served.call(
                .getDocument,
                ["name": Self.name("notes/1"), "transaction": token]
            )
            #expect(read.status == 0)
            if isDisturbed { _ = try await commit(nil, "50") }
            let answer = try await commit(token, isDisturbed ? "8" : "7")
            #expect(answer.status == (isDisturbed ? 10 : 0))
            #expect((answer.messages.first?["commitTime"] != nil) == !isDisturbed)
        }
        let token = try await begin()
        let ended = try await served.call(
            .rollback,
            ["database": Self.database, "transaction": token]
        )
        #expect(ended.status == 0)
        #expect(try await commit(token, "9").status == 10)
    }

    @Test("each write of a batch has a status of its own")
    func batchWrite() async throws {
        let served = try await Self.filled()
        let answer = try await served.call(
            .batchWrite,
            [
                "database": Self.database, "labels": ["a": "b"],
                "writes": [
                    ["delete": Self.name("notes/1")],
                    [
                        "update": ["name": Self.name("notes/9"), "fields": [:]],
                        "currentDocument": ["exists": true],
                    ],
                ],
            ]
        )
        #expect(answer.status == 0)
        let codes = answer.messages.first?["status"]?.elements?.map { $0["code"] }
        #expect(codes == [nil, .integer(5)])
    }

    @Test("a long reply is streamed")
    func longReplies() async throws {
        let served = Served()
        let text = String(repeating: "é\"\\{[", count: 2_000)
        for number in 0..<60 {
            _ = try await served.call(
                .createDocument,
                [
                    "parent": Self.root, "collectionId": "long",
                    "documentId": .string("\(100 + number)"),
                    "document": ["fields": ["text": ["stringValue": .string(text)]]],
                ]
            )
        }
        let answer = try await served.call(
            .runQuery,
            ["parent": Self.root, "structuredQuery": ["from": [["collectionId": "long"]]]]
        )
        #expect(answer.status == 0)
        let texts = answer.messages.map { $0["document"]?["fields"]?["text"]?["stringValue"] }
        #expect(texts == Array(repeating: .string(text), count: 60))
    }

    /// The service's methods: googleapis/googleapis `google/firestore/v1/firestore.proto`.
    private static let methods: Set<String> = [
        "BatchGetDocuments", "BatchWrite", "BeginTransaction", "Commit", "CreateDocument",
        "DeleteDocument", "ExecutePipeline", "GetDocument", "ListCollectionIds", "ListDocuments",
        "Listen", "PartitionQuery", "Rollback", "RunAggregationQuery", "RunQuery",
        "UpdateDocument", "Write",
    ]

    @Test("each method of the service is answered")
    func allMethods() async throws {
        #expect(Set(GRPCMethod.allCases.map(\.rawValue)) == Self.methods)
        let served = Served()
        for method in GRPCMethod.allCases where method.stream == nil {
            let answer = try await served.call(method.rawValue, StorageServer.frame([]))
            let expected = method == .executePipeline ? 12 : 3
            #expect(answer.status == expected, "\(method)")
        }
    }
}
