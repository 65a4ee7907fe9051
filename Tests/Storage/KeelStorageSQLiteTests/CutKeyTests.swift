#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Testing

@testable import KeelStorageSQLite

@Suite("Truncated index keys", .timeLimit(.minutes(5)))
struct CutKeyTests {
    // MARK: Differences

    /// Set `KEEL_FUZZ_QUERIES` for a longer run.
    private static let queryCount = TestLength.count("KEEL_FUZZ_QUERIES", 60, thorough: 160)

    private typealias Documents = [(path: DocumentPath, fields: DocumentFields)]

    /// Returns whether a query is valid once the constants that the client refuses are replaced by "s".
    private static func isValid(_ query: DocumentQuery) -> Bool {
        var short = query
        short.filter = query.filter.map(shortened)
        return (try? QueryValidation.checked(short)) != nil
    }

    private static func shortened(_ filter: DocumentFilter) -> DocumentFilter {
        switch filter {
        case .and(let filters): return .and(filters.map(shortened))
        case .or(let filters): return .or(filters.map(shortened))
        case .field(let field, let comparison, let value):
            if field.isDocumentID { return filter }
            func short(_ value: DocumentValue) -> DocumentValue {
                IndexKey.key(value).count > 1_500 ? "s" : value
            }
            guard comparison.takesList, let values = value.arrayValue else {
                return .field(field, comparison, short(value))
            }
            return .field(field, comparison, .array(values.map(short)))
        }
    }

    /// Returns the adapter's own result, because the client would refuse long constants.
    private static func answer(
        _ operation: ReadOperation,
        _ adapter: any StorageAdapter,
        maximumBytes: Int? = nil
    ) async throws -> (paths: [DocumentPath], values: [DocumentValue], result: ReadResult) {
        var request = ReadRequest(operation)
        request.maximumBytes = maximumBytes
        let result = try await adapter.read(request)
        switch result.payload {
        case .found(let documents): return (documents.map(\.path), [], result)
        case .values(let values): return ([], values, result)
        case .documents, .names: return ([], [], result)
        }
    }

    /// Returns the difference between two adapters' results for a query; nil if they agree.
    private static func difference(
        on query: DocumentQuery,
        _ memory: any StorageAdapter,
        _ indexed: any StorageAdapter
    ) async throws -> String? {
        let expected = try await answer(.query(query), memory).paths
        let (found, _, result) = try await answer(.query(query), indexed)
        if found != expected { return "finds \(found) and not \(expected), \(result.plan as Any)" }
        let aggregations: [Aggregation] = [.count(), .count(upTo: 3)]
        let count = try await answer(.aggregate(query, aggregations), memory).values
        if try await answer(.aggregate(query, aggregations), indexed).values != count {
            return "counts otherwise than \(count)"
        }
        let part = try await answer(.query(query), indexed, maximumBytes: 6_000)
        if case .last = query.limit {
            if part.paths != Array(expected.suffix(part.paths.count)) { return "ends elsewhere" }
        } else if part.paths != Array(expected.prefix(part.paths.count)) {
            return "begins with \(part.paths) where its bytes are limited, and not as \(expected)"
        }
        if !part.result.isPartial, part.paths != expected { return "is not told to be a part" }
        return nil
    }

    private static func stores(
        _ documents: Documents,
        _ schema: StorageSchema,
        isSealed: Bool,
        isBuilt: Bool
    ) async throws -> (memory: InMemoryStorageAdapter, indexed: SQLiteStorageAdapter) {
        let memory = InMemoryStorageAdapter()
        let indexed = try TemporaryFolder().adapter {
            if isSealed { $0.sealing = FakeByteSealing(key: 42) }
        }
        if !isBuilt { try await indexed.prepare(schema) }
        for (path, fields) in documents {
            let write = DocumentWrite(path, fields.isEmpty ? .delete : .set(DocumentBody(fields)))
            for adapter in [memory, indexed] as [any StorageAdapter] {
                try await adapter.apply(WriteBatch([write]))
            }
        }
        if isBuilt { try await indexed.prepare(schema) }
        return (memory, indexed)
    }

    /// Returns a minimal subset of the documents for which a query's results still differ.
    private static func shrunk(
        _ documents: Documents,
        on query: DocumentQuery,
        _ schema: StorageSchema,
        isSealed: Bool
    ) async throws -> Documents {
        var kept = documents
        var position = 0
        while position < kept.count {
            var fewer = kept
            fewer.remove(at: position)
            let (memory, indexed) = try await stores(
                fewer,
                schema,
                isSealed: isSealed,
                isBuilt: false
            )
            if try await difference(on: query, memory, indexed) == nil {
                position += 1
            } else {
                kept = fewer
            }
            try indexed.close()
        }
        return kept
    }

    @Test("Queries on random long values agree with the in-memory store", arguments: 0..<3)
    func agree(_ round: Int) async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("CutKeyTests: seed \(seed)")
        let isSealed = round % 3 == 2
        var random = RandomQueries(seed: seed, areLong: true)
        var queries: [DocumentQuery] = []
        while queries.count < Self.queryCount {
            let query = random.query()
            if Self.isValid(query) { queries.append(query) }
        }
        var schema = random.schema()
        for query in queries.prefix(40) {
            for _ in 0..<3 {
                let plan = QueryPlanner(schema.indexes).plan(for: PreparedQuery(query))
                if let suggestion = plan.suggestion { schema.indexes.append(suggestion) }
            }
        }
        let documents: Documents = (0..<140).map { _ in
            let isRemoval = Int.random(in: 0..<6, using: &random.random) == 0
            return (random.path(), isRemoval ? [:] : random.document())
        }
        let (memory, indexed) = try await Self.stores(
            documents,
            schema,
            isSealed: isSealed,
            isBuilt: round.isMultiple(of: 2)
        )
        #expect(try await indexed.checkIntegrity().problems == [])
        var served = 0
        for query in queries {
            let plan = QueryPlanner(schema.indexes).plan(for: PreparedQuery(query))
            if case .index = plan.access { served += 1 }
            guard let difference = try await Self.difference(on: query, memory, indexed) else {
                continue
            }
            let fewest = try await Self.shrunk(documents, on: query, schema, isSealed: isSealed)
            Issue.record("seed \(seed): \(query) of \(fewest) \(difference)")
            return
        }
        // A fuzz that never reaches the indexes would prove nothing.
        #expect(served > Self.queryCount / 6, "\(served) of \(queries.count), seed \(seed)")
        // The file has been removed, so that only connections that are open can read.
        let longest = try await indexed.databasePool.writeWithoutTransaction { database in
            try Int.fetchOne(database, sql: "SELECT max(length(key)) FROM entries")
        }
        #expect(longest == EntryKey.longest || longest ?? 0 > EntryKey.longestComponent)
        #expect(longest ?? .max <= EntryKey.longest)
    }

    // MARK: Costs

    private static let filling = String(repeating: "x", count: 1_600)

    /// A hundred values that an index distinguishes, each in twenty documents that it does not.
    private func tied() async throws -> SQLiteStorageAdapter {
        let adapter = try TemporaryFolder().adapter()
        try await adapter.prepare(StorageSchema(indexes: [IndexDefinition("a", [.ascending("v")])]))
        for group in 0..<100 {
            try await adapter.apply(
                WriteBatch(
                    (0..<20).map { number in
                        // Not in the order of the values.
                        let item = number * 7 % 20
                        return DocumentWrite(
                            "a/\(group)-\(number)",
                            .set(DocumentBody(["v": Self.value(group, item)]))
                        )
                    }
                )
            )
        }
        return adapter
    }

    private static func value(_ group: Int, _ item: Int) -> DocumentValue {
        .string("\(1_000 + group)\(filling)\(100 + item)")
    }

    @Test("A limited query examines only its documents and the end of a tie")
    func limits() async throws {
        let adapter = try await tied()
        let query = DocumentQuery("a").order(by: "v")
        func values(_ documents: [Document]) -> [DocumentValue] { documents.compactMap { $0["v"] } }
        let (first, plan) = try await adapter.found(query.limit(to: 5))
        #expect(values(first) == (0..<5).map { Self.value(0, $0) })
        #expect(plan?.access == .index("a(v+)"))
        #expect(plan?.examined ?? .max <= 21)
        let middle = query.start(after: Self.value(50, 9)).limit(to: 12)
        let (rest, middlePlan) = try await adapter.found(middle)
        let expected = (10..<20).map { Self.value(50, $0) } + (0..<2).map { Self.value(51, $0) }
        #expect(values(rest) == expected)
        #expect(middlePlan?.examined ?? .max <= 41)
        let last = query.end(before: Self.value(50, 9)).limit(toLast: 3)
        let (end, lastPlan) = try await adapter.found(last)
        #expect(values(end) == (6..<9).map { Self.value(50, $0) })
        #expect(lastPlan?.examined ?? .max <= 21)
    }

    @Test("A count examines no documents unless a bound is truncated")
    func counts() async throws {
        let adapter = try await tied()
        let query = DocumentQuery("a").order(by: "v")
        #expect(try await adapter.values(query, [.count()]) == [2_000])
        #expect(try await adapter.values(query.start(at: "1090"), [.count()]) == [200])
        let cut = query.start(after: Self.value(98, 4))
        #expect(try await adapter.values(cut, [.count()]) == [35])
        #expect(try await adapter.values(cut.limit(to: 30), [.count()]) == [30])
        #expect(try await adapter.values(cut.limit(to: 30), [.count(upTo: 3)]) == [3])
    }

    @Test("A tie that exceeds the byte limit of a result ends it at the right place")
    func bytes() async throws {
        let adapter = try TemporaryFolder().adapter()
        try await adapter.prepare(StorageSchema(indexes: [IndexDefinition("a", [.ascending("v")])]))
        for start in stride(from: 0, to: 600, by: 200) {
            try await adapter.setEach(start..<start + 200) { number in
                ("a/\(number)", ["v": Self.value(1, number * 7 % 600)])
            }
        }
        let query = DocumentQuery("a").order(by: "v")
        var next = query
        var found: [DocumentValue] = []
        var pages = 0
        while true {
            var request = ReadRequest(.query(try QueryValidation.checked(next)))
            request.maximumBytes = 100_000
            let result = try await adapter.read(request)
            guard case .found(let documents) = result.payload, let last = documents.last else {
                break
            }
            #expect(documents.count < 60)
            found += documents.compactMap { $0["v"] }
            pages += 1
            next = query.start(after: last)
            if !result.isPartial { break }
        }
        #expect(found == (0..<600).map { Self.value(1, $0) })
        #expect(pages > 10)
    }

    @Test("An entry of a collection’s index does not repeat the collection’s path")
    func paths() async throws {
        let files = try TemporaryFolder()
        let adapter = try files.adapter()
        let folder = String(repeating: "f", count: 300)
        let indexes = [
            IndexDefinition("a", [.ascending("n")]), IndexDefinition("a", [.descending("n")]),
            IndexDefinition("a", scope: .group, [.ascending("n")]),
        ]
        try await adapter.prepare(StorageSchema(indexes: indexes))
        let collection = CollectionPath("a/\(folder)/a")
        for id in ["1", "2", "3"] { try await adapter.set(collection.document(id), ["n": 1]) }
        let lengths = try await adapter.databasePool.read { database in
            try Int.fetchAll(
                database,
                sql: "SELECT max(length(key)) FROM entries GROUP BY ix ORDER BY ix"
            )
        }
        #expect(lengths.count == 3)
        #expect(lengths[0] < 20 && lengths[1] < 20 && lengths[2] > 300)
        let query = DocumentQuery(collection).where(.equal("n", 1))
        for (direction, ids) in [
            (DocumentQuery.Direction.ascending, ["2", "3"]), (.descending, ["2", "1"]),
        ] {
            let ordered = query.order(by: .documentID, direction)
            let (found, plan) = try await adapter.found(ordered.start(at: "2"))
            #expect(found.map(\.id) == ids)
            #expect(plan?.examined == 2)
            let outside = ordered.start(at: .reference("a/\(folder)/a/2/a/1"))
            #expect(
                try await adapter.ids(outside) == (direction == .ascending ? ["3"] : ["2", "1"])
            )
            let before = DocumentValue.reference("A/1")
            let behind = DocumentValue.reference("b/1")
            let all = direction == .ascending ? (before, behind) : (behind, before)
            #expect(try await adapter.ids(ordered.start(at: all.0).end(at: all.1)).count == 3)
            #expect(try await adapter.ids(ordered.start(at: all.1)).isEmpty)
            #expect(try await adapter.ids(ordered.end(at: all.0)).isEmpty)
        }
    }
}
#endif
