import HTTPTypes
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Synchronization
import Testing

@testable import KeelServing

@Suite("Queries that need an index, as on Google's server")
struct CompositeIndexTests {
    private static let query = #"""
        {"structuredQuery":{"from":[{"collectionId":"a"}],"where":{"fieldFilter":{
          "field":{"fieldPath":"color"},"op":"EQUAL","value":{"stringValue":"red"}}},
          "orderBy":[{"field":{"fieldPath":"n"},"direction":"DESCENDING"}]}}
        """#

    @Test("A query without its index is refused with the definition to declare")
    func queries() async throws {
        let lax = Served()
        #expect(try await lax.send(.post, ":runQuery", Self.query).status == 200)
        let strict = Served { $0.compositeIndexes = [] }
        let refused = try await strict.send(.post, ":runQuery", Self.query)
        #expect(refused.error == "FAILED_PRECONDITION")
        let message = refused.json["error"]?["message"]?.text
        let entry = #"""
            {"collectionGroup":"a","queryScope":"COLLECTION","fields":[{"fieldPath":"color",\#
            "order":"ASCENDING"},{"fieldPath":"n","order":"DESCENDING"}]}
            """#
        #expect(message?.contains(entry) == true)
        let count = #"""
            {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"a",
              "allDescendants":true}],"orderBy":[{"field":{"fieldPath":"n"}}]},
              "aggregations":[{"alias":"c","count":{}}]}}
            """#
        let counted = try await strict.send(.post, ":runAggregationQuery", count)
        #expect(counted.error == "FAILED_PRECONDITION")
        let declared = Served {
            $0.compositeIndexes = [IndexDefinition("a", [.ascending("color"), .descending("n")])]
        }
        #expect(try await declared.send(.post, ":runQuery", Self.query).status == 200)
        #expect(try await strict.send(.get, "/a?orderBy=n").status == 200)
        #expect(try await strict.send(.get, "/a?orderBy=n,color").error == "FAILED_PRECONDITION")
    }

    @Test("A stream refuses the target, and goes on with others")
    func targets() async throws {
        let served = Served { $0.compositeIndexes = [] }
        let (requests, client) = AsyncStream.makeStream(of: FirestoreJSON.self)
        let query = try FirestoreJSON(parsing: Array(Self.query.utf8))
        for (id, content) in [
            (2, query), (4, ["structuredQuery": ["from": [["collectionId": "a"]]]]),
        ]
            as [(Int64, FirestoreJSON)]
        {
            client.yield(["addTarget": ["targetId": .integer(id), "query": content]])
        }
        let changes = Mutex<[String]>([])
        let failure = await served.server.stream(.listen, in: Served.database, requests) { json in
            guard let change = json["targetChange"] else { return }
            let kind = change["targetChangeType"]?.text ?? "NO_CHANGE"
            let target = change["targetIds"]?.elements?.first?.wholeNumber ?? 0
            let code = change["cause"]?["code"]?.wholeNumber.map { " \($0)" } ?? ""
            changes.withLock { $0.append("\(kind) \(target)\(code)") }
            if kind == "NO_CHANGE" { client.finish() }
        }
        #expect(failure == nil)
        #expect(
            changes.withLock { $0 } == ["ADD 2", "REMOVE 2 9", "ADD 4", "CURRENT 4", "NO_CHANGE 0"]
        )
    }
}
