import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Queries over all collections at once")
struct TreeQueryTests {
    private let served = Served()

    /// Stores documents, some below a missing one, and a record of Keel's own.
    private func fill() async throws {
        for path in ["b/2", "a/1", "a/1/pets/cat", "a/1/pets/dog/toys/ball", "a/2", "a/3/pets/owl"]
        {
            try await served.set(path, n: 1)
        }
        let own = DocumentWrite("__own__/1", .set(DocumentBody(DocumentFields())))
        _ = try await served.adapter.commit([WriteBatch([own])])
    }

    private func found(_ query: String, below parent: String = "") async throws -> [String] {
        let body = #"{"structuredQuery":\#(query)}"#
        let answer = try await served.send(.post, "\(parent):runQuery", body)
        #expect(answer.status == 200)
        let root = Served.name("").count
        return (answer.json.elements ?? []).compactMap { element in
            element["document"]?["name"]?.text.map { String($0.dropFirst(root)) }
        }
    }

    @Test("All descendants are ordered by name, even below a missing document")
    func whole() async throws {
        try await fill()
        let all = ["a/1", "a/1/pets/cat", "a/1/pets/dog/toys/ball", "a/2", "a/3/pets/owl", "b/2"]
        let deep = #""from":[{"allDescendants":true}]"#
        #expect(try await found("{\(deep)}") == all)
        let descending = #""orderBy":[{"field":{"fieldPath":"__name__"},"direction":2}]"#
        #expect(try await found("{\(deep),\(descending)}") == all.reversed())
        #expect(try await found(#"{\#(deep),"offset":1,"limit":2}"#) == Array(all[1...2]))
    }

    @Test("A query below a document finds all descendants or only direct ones")
    func below() async throws {
        try await fill()
        let deep = #"{"from":[{"allDescendants":true}]}"#
        let near = #"{"from":[{}]}"#
        #expect(try await found(deep, below: "/a/1") == ["a/1/pets/cat", "a/1/pets/dog/toys/ball"])
        #expect(try await found(near, below: "/a/1") == ["a/1/pets/cat"])
        #expect(try await found(near) == ["a/1", "a/2", "b/2"])
        #expect(try await found(deep, below: "/b/2").isEmpty)
    }

    @Test("The bounds of Google's client for everything below a collection work")
    func bounded() async throws {
        try await fill()
        func name(_ path: String) -> String { #"{"referenceValue":"\#(Served.name(path))"}"# }
        let least = "__id-9223372036854775808__"
        let query = #"""
            {"from":[{"allDescendants":true}],"select":{"fields":[{"fieldPath":"__name__"}]},
             "orderBy":[{"field":{"fieldPath":"__name__"},"direction":1}],
             "startAt":{"values":[\#(name("a/\(least)"))],"before":true},
             "endAt":{"values":[\#(name("a\\u0000/\(least)"))]}}
            """#
        let inA = ["a/1", "a/1/pets/cat", "a/1/pets/dog/toys/ball", "a/2", "a/3/pets/owl"]
        #expect(try await found(query) == inA)
        let after = #"""
            {"from":[{"allDescendants":true}],
             "startAt":{"values":[\#(name("a/1/pets/cat"))],"before":false},
             "endAt":{"values":[\#(name("a/2"))],"before":true}}
            """#
        #expect(try await found(after) == ["a/1/pets/dog/toys/ball"])
    }

    @Test("Conditions on fields, transactions and invalid bounds are rejected")
    func refused() async throws {
        let bodies = [
            #"{"structuredQuery":{"from":[{}],"where":{"unaryFilter":{"op":3,"field":{"fieldPath":"n"}}}}}"#,
            #"{"structuredQuery":{"from":[{}]},"newTransaction":{}}"#,
        ]
        for body in bodies {
            let answer = try await served.send(.post, ":runQuery", body)
            #expect(answer.status == 501)
        }
        let bound =
            #"{"structuredQuery":{"from":[{}],"startAt":{"values":[{"integerValue":"1"}]}}}"#
        #expect(try await served.send(.post, ":runQuery", bound).status == 400)
    }
}
