#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import Testing

@Suite("Reads limited in bytes")
struct BoundedReadTests {
    private static func paths(_ result: ReadResult) -> [DocumentPath] {
        guard case .found(let documents) = result.payload else { return [] }
        return documents.map(\.path)
    }

    @Test("A scan with the largest limit and offset ends")
    func largestLimit() async throws {
        let folder = try TemporaryFolder()
        let storage = StorageClient(try folder.adapter())
        try await storage.setDocument("a/1", ["n": 1])
        let query = DocumentQuery("a").where(.equal("n", 1)).limit(to: .max)
        #expect(try await storage.queryDocuments(query).map(\.id) == ["1"])
        #expect(try await storage.queryDocuments(query.offset(.max)).isEmpty)
    }

    @Test(
        "A limited query returns the beginning of its result by scan, by index and in the past",
        arguments: UInt64(1)...6
    )
    func queries(_ seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        var random = RandomQueries(seed: seed)
        let scanning = try folder.adapter("Scan.sqlite") { $0.history = .seconds(3600) }
        let indexed = try folder.adapter("Index.sqlite")
        let adapters: [any StorageAdapter] = [InMemoryStorageAdapter(), scanning, indexed]
        var queries: [DocumentQuery] = []
        while queries.count < 150 {
            if let query = try? QueryValidation.checked(random.query()) { queries.append(query) }
        }
        var schema = random.schema()
        for query in queries.prefix(80) {
            for _ in 0..<3 {
                let plan = QueryPlanner(schema.indexes).plan(for: PreparedQuery(query))
                if let suggestion = plan.suggestion { schema.indexes.append(suggestion) }
            }
        }
        try await indexed.prepare(schema)
        var past: Timestamp?
        for round in 0..<240 {
            let path = random.path()
            var fields = random.document()
            let padding = [0, 10, 3_000].randomElement(using: &random.random) ?? 0
            fields["padding"] = .string(String(repeating: "x", count: padding))
            let isDeletion = round > 150 && Int.random(in: 0..<4, using: &random.random) == 0
            let write = DocumentWrite(path, isDeletion ? .delete : .set(DocumentBody(fields)))
            for adapter in adapters { try await adapter.apply(WriteBatch([write])) }
            if round == 120 {
                var request = ReadRequest(.documents([]))
                request.needsTime = true
                past = try await scanning.read(request).time
            }
        }
        var partial = 0
        for query in queries {
            let maximumBytes = Int.random(in: 1...20_000, using: &random.random)
            for (number, adapter) in adapters.enumerated() {
                for time in number == 1 ? [nil, past] : [nil] {
                    var request = ReadRequest(.query(query))
                    request.asOf = time
                    let whole = Self.paths(try await adapter.read(request))
                    request.maximumBytes = maximumBytes
                    let result = try await adapter.read(request)
                    let part = Self.paths(result)
                    let isFromEnd = if case .last = query.limit { true } else { false }
                    let expected = isFromEnd ? whole.suffix(part.count) : whole.prefix(part.count)
                    let about: Comment =
                        "seed \(seed): \(maximumBytes) bytes of \(query), \(number)"
                    #expect(part == Array(expected), about)
                    #expect(!part.isEmpty || whole.isEmpty, about)
                    #expect(result.isPartial || part.count == whole.count, about)
                    if result.isPartial { partial += 1 }
                }
            }
        }
        // Reads that are never cut off would prove nothing.
        #expect(partial > 100)
    }

    @Test(
        "A scan holds at most about twice its byte limit and returns the first documents in order"
    )
    func scans() async throws {
        let folder = try TemporaryFolder()
        let adapter = try folder.adapter()
        let text = DocumentValue.string(String(repeating: "x", count: 10_000))
        for number in 0..<200 {
            let place = DocumentPath("a/\(1_000 + number * 77 % 200)")
            try await adapter.set(place, ["n": .integer(Int64(number * 31 % 200)), "text": text])
        }
        var request = ReadRequest(.query(DocumentQuery("a").order(by: "n")))
        request.maximumBytes = 100_000
        var found: [Int64] = []
        while true {
            let result = try await adapter.read(request)
            guard case .found(let documents) = result.payload, let last = documents.last else {
                break
            }
            #expect(documents.count <= 21)
            for case .integer(let number)? in documents.map({ $0["n"] }) { found.append(number) }
            guard result.isPartial else { break }
            request.operation = .query(DocumentQuery("a").order(by: "n").start(after: last))
        }
        #expect(found == (0..<200).map(Int64.init))
    }

    @Test("Reads by path also end early, with at least one document")
    func documents() async throws {
        let folder = try TemporaryFolder()
        let adapter = try folder.adapter()
        let text = DocumentValue.string(String(repeating: "x", count: 10_000))
        let paths = (0..<20).map { DocumentPath("a/\(100 + $0)") }
        for path in paths.dropFirst(5) { try await adapter.set(path, ["text": text]) }
        for most in [1, 25_000, 1_000_000] {
            var request = ReadRequest(.documents(paths))
            request.maximumBytes = most
            let result = try await adapter.read(request)
            let documents = try result.documents
            #expect(documents.count == (most == 1 ? 6 : most == 25_000 ? 8 : 20))
            #expect(result.isPartial == (most < 1_000_000))
        }
    }

    @Test("Answers limited to no bytes have one document or one change", arguments: [0, -1])
    func noBytes(_ most: Int) async throws {
        let adapter = try TemporaryFolder().adapter()
        let start = try await adapter.changes(ChangeRequest()).next
        let paths = (1...3).map { DocumentPath("a/\($0)") }
        for (number, path) in paths.enumerated() {
            try await adapter.set(path, ["n": .integer(Int64(number))])
        }
        let query = DocumentQuery("a").order(by: "n")
        for operation in [ReadOperation.documents(paths), .query(query)] {
            var request = ReadRequest(operation)
            request.maximumBytes = most
            let result = try await adapter.read(request)
            #expect(result.isPartial)
            switch result.payload {
            case .documents(let documents): #expect(documents.map { $0?.path } == [paths[0]])
            case .found(let documents): #expect(documents.map(\.path) == [paths[0]])
            default: Issue.record("unexpected payload")
            }
        }
        for cursor in [nil, start] {
            var request = ChangeRequest(after: cursor, maximumBytes: most)
            var found: [DocumentPath] = []
            for _ in paths {
                let page = try await adapter.changes(request)
                #expect(page.changes.count == 1)
                found += page.changes.map(\.path)
                request.after = page.next
            }
            #expect(found == paths)
        }
    }

    @Test("Pages of changes end early without missing a change", arguments: UInt64(1)...4)
    func changes(_ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let folder = try TemporaryFolder()
        let adapters: [any StorageAdapter] = [try folder.adapter(), InMemoryStorageAdapter()]
        for isFromStart in [true, false] {
            var cursors: [ChangeCursor?] = [nil, nil]
            for (number, adapter) in adapters.enumerated() where !isFromStart {
                var request = ReadRequest(.documents([]))
                request.needsPosition = true
                cursors[number] = try await adapter.read(request).position
            }
            for _ in 0..<150 {
                let collection: CollectionPath = Bool.random(using: &random) ? "a" : "b"
                let path = DocumentPath(collection, "\(Int.random(in: 0..<30, using: &random))")
                let count = Int.random(in: 0..<2_000, using: &random)
                let text = DocumentValue.string(String(repeating: "x", count: count))
                let write = DocumentWrite(
                    path,
                    Int.random(in: 0..<4, using: &random) == 0
                        ? .delete : .set(DocumentBody(["text": text]))
                )
                for adapter in adapters { try await adapter.apply(WriteBatch([write])) }
            }
            for (number, adapter) in adapters.enumerated() {
                for scope in [ChangeScope.everything, .collections(["a"])] {
                    let whole = try await Self.state(of: adapter, cursors[number], scope, nil)
                    let parts = try await Self.state(of: adapter, cursors[number], scope, 5_000)
                    #expect(parts.state == whole.state, "seed \(seed)")
                    #expect(parts.pages > 2, "seed \(seed)")
                    #expect(parts.maximumBytes < 5_000 + 2_000, "seed \(seed)")
                }
            }
        }
    }

    /// Returns the final state after all pages, and the sizes of the pages.
    private static func state(
        of adapter: any StorageAdapter,
        _ cursor: ChangeCursor?,
        _ scope: ChangeScope,
        _ maximumBytes: Int?
    ) async throws -> (state: [DocumentPath: Document?], pages: Int, maximumBytes: Int) {
        var request = ChangeRequest(after: cursor, scope: scope, maximumBytes: maximumBytes)
        var state: [DocumentPath: Document?] = [:]
        var (pages, most) = (0, 0)
        while true {
            let page = try await adapter.changes(request)
            pages += 1
            var bytes = 0
            for change in page.changes {
                switch change {
                case .current(let document):
                    bytes += document.body.bytes.count
                    state[change.path] = .some(document)
                case .removed, .leftScope, .unreadable: state[change.path] = .some(nil)
                }
            }
            most = max(most, bytes)
            if page.isCaughtUp { return (state, pages, most) }
            request.after = page.next
        }
    }
}
#endif
