#if SQLite
import Foundation
import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelStorageSQLite
import KeelTestSupport
import Testing

/// The cost of reading a page in stores of two sizes.
@Suite("Reading costs of listings and queries over everything")
struct ListingCostTests {
    private static let root = Served.name("").count

    /// Creates a store of `count` users, every other one missing, each with three documents below it, and the same
    /// number of unrelated orders.
    private func withStore(
        of count: Int,
        _ body: (Served, WatchedStore) async throws -> Void
    ) async throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let adapter = try SQLiteStorageAdapter(at: .file(folder.appending(path: "store.sqlite")))
        var paths: [DocumentPath] = []
        for number in 1_000..<1_000 + count {
            let user = "users/u\(number)"
            if number.isMultiple(of: 2) { paths.append(DocumentPath(user)) }
            for below in ["notes/1", "notes/1/parts/1", "tags/1"] {
                let path = "\(user)/\(below)"
                paths.append(DocumentPath(path))
            }
            paths.append(DocumentPath("orders/\(number)"))
        }
        for start in stride(from: 0, to: paths.count, by: 500) {
            let writes = paths[start..<min(start + 500, paths.count)].map {
                DocumentWrite($0, .set(DocumentBody(["n": 1])))
            }
            for result in try await adapter.commit([WriteBatch(writes)]) { _ = try result.get() }
        }
        let store = WatchedStore(adapter)
        try await body(Served(store), store)
        try adapter.close()
    }

    private func names(_ answer: Served.Answer) -> [String] {
        (answer.json["documents"]?.elements ?? []).compactMap { entry in
            entry["name"]?.text.map { String($0.dropFirst(Self.root)) }
        }
    }

    @Test(
        "A listing with missing documents reads only its page",
        arguments: ["", "&orderBy=__name__%20desc"]
    )
    func missing(order: String) async throws {
        var costs: [[Int]] = []
        for count in [60, 600] {
            try await withStore(of: count) { served, store in
                var token = ""
                var pages: [Int] = []
                var all: [String] = []
                for _ in 0..<3 {
                    let before = store.examined
                    let place = "/users?showMissing=true&pageSize=10\(order)&pageToken=\(token)"
                    let answer = try await served.send(.get, place)
                    all += names(answer)
                    token = answer.json["nextPageToken"]?.text ?? ""
                    pages.append(store.examined - before)
                }
                let users = (1_000..<1_000 + count).map { "users/u\($0)" }
                #expect(all == Array((order.isEmpty ? users : users.reversed()).prefix(30)))
                costs.append(pages)
            }
        }
        // Ten entries: one extra document, and up to twice the number of users in the walk.
        for cost in costs.joined() { #expect(cost <= 90, "\(costs)") }
    }

    @Test("A limited query over everything reads only its page")
    func tree() async throws {
        for count in [60, 600] {
            try await withStore(of: count) { served, store in
                let body = #"""
                    {"structuredQuery":{"from":[{"allDescendants":true}],"limit":10,
                     "startAt":{"values":[{"referenceValue":"\#(Served.name("users/u1030/notes/1"))"}],
                     "before":true}}}
                    """#
                let answer = try await served.send(.post, ":runQuery", body)
                let found = (answer.json.elements ?? []).compactMap {
                    $0["document"]?["name"]?.text.map { String($0.dropFirst(Self.root)) }
                }
                #expect(
                    found.prefix(4) == [
                        "users/u1030/notes/1", "users/u1030/notes/1/parts/1", "users/u1030/tags/1",
                        "users/u1031/notes/1",
                    ]
                )
                #expect(found.count == 10)
                #expect(store.examined <= 12)
            }
        }
    }

    @Test("A transaction detects a conflict with its query over everything")
    func transaction() async throws {
        try await withStore(of: 10) { served, _ in
            for (change, error) in [("users/u1001/notes/2", "ABORTED"), ("orders/9", nil)] {
                let token = try await served.begin()
                let below = "/users/u1001:runQuery"
                let read =
                    #"{"structuredQuery":{"from":[{"allDescendants":true}]},"transaction":"\#(token)"}"#
                #expect(try await served.send(.post, below, read).status == 200)
                try await served.set(change, n: 2)
                #expect(try await served.commit("b/1", n: 1, in: token).error == error)
            }
        }
    }

    @Test("Partitioning a group does not read other collections")
    func partitions() async throws {
        try await withStore(of: 600) { served, store in
            let body = #"""
                {"structuredQuery":{"from":[{"collectionId":"tags","allDescendants":true}]},
                 "partitionCount":3}
                """#
            let answer = try await served.send(.post, ":partitionQuery", body)
            let points = (answer.json["partitions"]?.elements ?? []).compactMap {
                $0["values"]?.elements?.first?["referenceValue"]?.text
            }
            #expect(points.count == 3)
            #expect(points == points.sorted())
            // One pass to count, and one to skip the names between the points.
            #expect(store.examined <= 1_210)
        }
    }

    @Test("A query over a document’s collections reads them one by one")
    func children() async throws {
        try await withStore(of: 600) { served, store in
            let body = #"{"structuredQuery":{"from":[{}],"limit":5}}"#
            let answer = try await served.send(.post, ":runQuery", body)
            let found = (answer.json.elements ?? []).compactMap {
                $0["document"]?["name"]?.text.map { String($0.dropFirst(Self.root)) }
            }
            #expect(found == (1_000..<1_005).map { "orders/\($0)" })
            #expect(store.examined <= 20)
        }
    }
}
#endif
