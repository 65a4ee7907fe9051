import KeelStorageAdapting
import Testing

/// Tests of the check over in-memory tables, each damaged in one place.
@Suite("Integrity checks of tables")
struct IntegrityCheckTests {
    private struct Tables: CheckedTables {
        var own: [String] = []
        var all: [StoredIndex] = []
        var wasChanged = true
        var documents: [Result<CheckedDocument, StorageError>] = []
        var entries: [Int64: Set<[UInt8]>] = [:]
        var rows: [(name: String, count: Int)] = []
        var start: Int64?
        var images: [(Result<Document?, StorageError>, Int64)] = []

        func damage() -> [String] { own }
        func indexes() -> [StoredIndex] { all }
        func hasChanges() -> Bool { wasChanged }

        func eachDocument(_ take: (Result<CheckedDocument, StorageError>) throws -> Void) throws {
            for document in documents { try take(document) }
        }

        func missing(_ wanted: [CheckedEntry]) -> [Int] {
            wanted.indices.filter { position in
                let entry = wanted[position]
                return entries[entry.index.number]?.contains(entry.key) != true
            }
        }

        func entryCount(of index: StoredIndex) -> Int { entries[index.number]?.count ?? 0 }
        func loose() -> [(name: String, count: Int)] { rows }
        func historyStart() -> Int64? { start }

        func eachImage(
            _ take: (Result<Document?, StorageError>, _ time: Int64) throws -> Void
        ) throws {
            for (image, time) in images { try take(image, time) }
        }
    }

    private static func document(_ number: Int64, body: DocumentBody? = nil) -> CheckedDocument {
        CheckedDocument(
            Document(
                path: "notes/\(number)",
                body: body ?? DocumentBody(["n": .integer(number)]),
                revision: Revision(number: 1),
                createTime: Timestamp(microseconds: 0),
                updateTime: Timestamp(microseconds: 0)
            ),
            collection: 1,
            row: number
        )
    }

    private static func index(_ number: Int64, built: Int64? = nil) throws -> StoredIndex {
        let kind = StoredIndex.Kind.fields(IndexDefinition("notes", [.ascending("n")]))
        return try StoredIndex(number: number, definition: kind.encoded, built: built)
    }

    /// Returns tables with three documents and their entries.
    private static func tables() throws -> Tables {
        var tables = Tables(all: [try index(4)])
        tables.documents = (1...3).map { .success(document($0)) }
        tables.entries[4] = Set((1...3).map { IndexKey.key(.integer($0)) })
        return tables
    }

    private static func problems(_ tables: Tables) throws -> [String] {
        var check = IntegrityCheck(tables)
        try check.run()
        #expect(check.documentCount == tables.documents.count)
        return check.problems
    }

    @Test("Intact tables and an index under construction have no problems")
    func sound() throws {
        var tables = try Self.tables()
        tables.rows = [("changes without a collection", 0)]
        #expect(try Self.problems(tables).isEmpty)
        tables.all.append(try Self.index(5, built: 2))
        #expect(try Self.problems(tables).isEmpty)
    }

    @Test("Missing and superfluous entries are distinguished")
    func entries() throws {
        var tables = try Self.tables()
        tables.entries[4]?.remove(IndexKey.key(2))
        #expect(
            try Self.problems(tables) == [
                "the index 4 lacks an entry of “notes/2”",
                "the index 4 has 2 entries instead of 3",
            ]
        )
        tables = try Self.tables()
        tables.entries[4]?.insert(IndexKey.key(9))
        #expect(try Self.problems(tables) == ["the index 4 has 4 entries instead of 3"])
    }

    @Test("An unreadable document is named, and the others are checked")
    func unreadable() throws {
        var tables = try Self.tables()
        tables.documents[0] = .failure(StorageError(.corrupted, "“notes/1” is sealed otherwise"))
        tables.documents[1] = .success(Self.document(2, body: DocumentBody(bytes: [0xFF])))
        let problems = try Self.problems(tables)
        #expect(problems.first == "“notes/1” is sealed otherwise")
        #expect(problems.count == 3)
        #expect(problems.last == "the index 4 has 3 entries instead of 1")
    }

    @Test("Dangling rows, a missing log and database errors are reported")
    func others() throws {
        var tables = Tables(own: ["page 7 is torn"], wasChanged: false)
        tables.documents = [.success(Self.document(1))]
        tables.rows = [("documents without a collection", 2), ("changes without a collection", 0)]
        #expect(
            try Self.problems(tables) == [
                "page 7 is torn", "there are documents but no change log",
                "there are 2 documents without a collection",
            ]
        )
    }

    @Test("Unreadable and unordered history images are reported")
    func history() throws {
        var tables = Tables(start: 10)
        tables.images = [
            (.success(nil), 11), (.success(Self.document(1).document), 13),
            (.failure(StorageError(.corrupted, "damaged")), 14), (.success(nil), 12),
        ]
        #expect(
            try Self.problems(tables) == [
                "in the history: damaged", "the history is not in time order",
            ]
        )
        tables.start = nil
        #expect(try Self.problems(tables).isEmpty, "a store without a history has no images")
    }
}
