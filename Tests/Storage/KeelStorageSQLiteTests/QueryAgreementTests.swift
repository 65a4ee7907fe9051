#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Agreement of in-memory, scanning and indexed queries")
struct QueryAgreementTests {
    /// Set `KEEL_FUZZ_QUERIES` for a longer run.
    private static let queryCount = TestLength.count("KEEL_FUZZ_QUERIES", 120, thorough: 250)

    @Test("random queries agree on random documents", arguments: UInt64(1)...6)
    func random(_ seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        var random = RandomQueries(seed: seed)
        let memory = InMemoryStorageAdapter()
        let scanning = try folder.adapter("Scan.sqlite")
        let indexed = try folder.adapter("Index.sqlite")
        let adapters: [any StorageAdapter] = [memory, scanning, indexed]
        var queries: [DocumentQuery] = []
        while queries.count < Self.queryCount {
            if let query = try? QueryValidation.checked(random.query()) { queries.append(query) }
        }
        var schema = random.schema()
        // Random indexes rarely match, so add those that some of the queries need.
        for query in queries.prefix(60) {
            for _ in 0..<3 {
                let plan = QueryPlanner(schema.indexes).plan(for: PreparedQuery(query))
                if let suggestion = plan.suggestion { schema.indexes.append(suggestion) }
            }
        }
        // Half of the documents precede the indexes, half follow them.
        for round in 0..<2 {
            for _ in 0..<120 {
                let path = random.path()
                let write = DocumentWrite(
                    path,
                    Int.random(in: 0..<5, using: &random.random) == 0
                        ? .delete : .set(DocumentBody(random.document()))
                )
                for adapter in adapters { try await adapter.apply(WriteBatch([write])) }
            }
            if round == 0 { try await indexed.prepare(schema) }
        }
        #expect(try await indexed.checkIntegrity().isSound)
        var served = 0
        for query in queries {
            let expected = try await memory.found(query).documents.map(\.path)
            for adapter in adapters.dropFirst() {
                let (documents, plan) = try await adapter.found(query)
                #expect(
                    documents.map(\.path) == expected,
                    "seed \(seed): \(query), plan \(plan as Any)"
                )
                if case .index? = plan?.access { served += 1 }
                let count = try await adapter.values(query, [.count()])
                #expect(
                    count == [.integer(Int64(expected.count))],
                    "seed \(seed): count of \(query)"
                )
            }
        }
        // A fuzz that never reaches the indexes would prove nothing.
        #expect(served > Self.queryCount / 5, "\(served) of \(queries.count)")
    }

    @Test("pages by cursor add up to the complete result", arguments: [false, true])
    func pages(_ isIndexed: Bool) async throws {
        let adapter = try TemporaryFolder().adapter()
        if isIndexed {
            try await adapter.prepare(
                StorageSchema(indexes: [IndexDefinition("a", [.descending("n")])])
            )
        }
        for number in 0..<60 {
            try await adapter.set("a/\(number)", ["n": .integer(Int64(number % 7))])
        }
        for query in [
            DocumentQuery("a").order(by: "n", .descending), DocumentQuery("a").order(by: "n"),
            DocumentQuery("a"), DocumentQuery("a").order(by: .documentID, .descending),
        ] {
            let whole = try await adapter.found(query).documents
            var joined: [Document] = []
            while true {
                var next = query.limit(to: 7)
                if let last = joined.last { next = next.start(after: last) }
                let page = try await adapter.found(next)
                if page.documents.isEmpty { break }
                #expect(page.plan?.access != .scan || !isIndexed)
                #expect((page.plan?.examined ?? 0) <= 8 || page.plan?.access == .scan)
                joined += page.documents
            }
            #expect(joined == whole)
            #expect(joined.count == 60)
            #expect(
                try await adapter.found(query.start(at: whole[20]).end(before: whole[30])).documents
                    == Array(whole[20..<30])
            )
        }
    }

    @Test("an undeclared query names its index and is rejected in strict mode")
    func strict() async throws {
        let adapter = try TemporaryFolder().adapter()
        try await adapter.set("a/1", ["x": 1, "y": 2])
        let query = DocumentQuery("a").where(.equal("x", 1)).order(by: "y", .descending)
        let plan = try #require(try await adapter.found(query).plan)
        let suggestion = try #require(plan.suggestion)
        var request = ReadRequest(.query(query))
        request.isStrict = true
        let error = await storageError { [request] in _ = try await adapter.read(request) }
        #expect(error?.code == .indexRequired)
        #expect(error?.message.contains("\(suggestion)") == true)
        try await adapter.prepare(StorageSchema(indexes: [suggestion]))
        _ = try await adapter.read(request)
    }

    @Test("collections are listed if they have documents at any depth")
    func collections() async throws {
        let adapter = try TemporaryFolder().adapter()
        for path: DocumentPath in ["b/1", "a/1/c/2", "a!/1", "b/1/z/1/y/2", "gone/1"] {
            try await adapter.set(path, [:])
        }
        try await adapter.delete("gone/1")
        #expect(try await adapter.names(under: nil) == ["a", "a!", "b"])
        #expect(try await adapter.names(under: "a/1") == ["c"])
        #expect(try await adapter.names(under: "b/1") == ["z"])
        #expect(try await adapter.names(under: "b/1/z/1") == ["y"])
        #expect(try await adapter.names(under: "b/2").isEmpty)
    }
}
#endif
