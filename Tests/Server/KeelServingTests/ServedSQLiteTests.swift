#if SQLite
import Foundation
import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelStorageSQLite
import KeelTestSupport
import Testing

@Suite("A served store on SQLite")
struct ServedSQLiteTests {
    private func serving(_ body: (Served) async throws -> Void) async throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "store.sqlite")
        try await body(Served(try SQLiteStorageAdapter(at: .file(file))))
    }

    @Test("A write that changes nothing returns the existing update time")
    func unchanged() async throws {
        try await serving { served in
            let first = try await served.set("a/1", n: 1)
            try await served.set("a/2", n: 1)
            let body = """
                {"writes":[\(Served.write("a/2", n: 2)),\(Served.write("a/1", n: 1))]}
                """
            let answer = try await served.send(.post, ":commit", body)
            let results = try #require(answer.json["writeResults"]?.elements)
            #expect(results[0]["updateTime"] == answer.json["commitTime"])
            #expect(results[1]["updateTime"] == first.json["updateTime"])
        }
    }

    @Test("A transaction meets a conflict, and a repeated commit takes effect once")
    func transactions() async throws {
        try await serving { served in
            try await served.set("a/1", n: 1)
            let query = #""structuredQuery":{"from":[{"collectionId":"a"}]}"#
            for (isDisturbed, error) in [(true, "ABORTED"), (false, nil)] {
                let token = try await served.begin()
                let read = #"{\#(query),"transaction":"\#(token)"}"#
                _ = try await served.send(.post, ":runQuery", read)
                if isDisturbed { try await served.set("a/2", n: 2) }
                let commit = Served.commit("b/1", n: 1, transaction: token)
                let answer = try await served.send(.post, ":commit", commit)
                #expect(answer.error == error)
                let again = try await served.send(.post, ":commit", commit)
                #expect(again.error == error)
                if !isDisturbed { #expect(again.json == answer.json) }
            }
        }
    }

    @Test("A declared index serves a strict query and is named in the plan")
    func schema() async throws {
        try await serving { served in
            try await served.set("a/1", n: 1)
            let query = #"""
                {"structuredQuery":{"from":[{"collectionId":"a"}],
                 "orderBy":[{"field":{"fieldPath":"n"}}]},"keel":{"strict":true,"position":true}}
                """#
            let refused = try await served.send(.post, ":runQuery", query, extended: true)
            #expect(refused.reason == "indexRequired")
            let header = try #require(HTTPField.Name("Keel-Protocol"))
            let declared = try await served.send(
                .post,
                path: "/keel/v1/schema",
                Array(#"{"indexes":[{"collection":"a","components":[{"ascending":"n"}]}]}"#.utf8),
                [header: "1"]
            )
            #expect(declared.status == 200)
            let found = try await served.send(.post, ":runQuery", query, extended: true)
            let last = try #require(found.json.elements?.last)
            #expect(last["keel"]?["plan"]?["access"] == "index")
            #expect(last["keel"]?["position"] != nil)
        }
    }

    @Test("Missing parent documents are listed from the file")
    func showsMissing() async throws {
        try await serving { served in
            for path in ["a/1", "a/0/b/1", "a/2/b/1/c/1", "ab/1"] {
                try await served.set(path, n: 1)
            }
            let answer = try await served.send(.get, "/a?showMissing=true")
            let names = answer.json["documents"]?.elements?.map { $0["name"]?.text }
            #expect(names == ["a/0", "a/1", "a/2"].map(Served.name))
        }
    }
}
#endif
