#if SQLite
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import Testing

@Suite("Collections without documents")
struct EmptyCollectionTests {
    let folder: TemporaryFolder
    private let clock = WallClock()

    init() throws { folder = try TemporaryFolder() }

    /// Returns an adapter that keeps as little of the log as possible, and an hour of history if `hasHistory` is true.
    private func adapter(hasHistory: Bool = false) throws -> SQLiteStorageAdapter {
        try folder.adapter { configuration in
            configuration.retention = .init(bytes: 1, tombstoneBytes: 0)
            configuration.now = { [clock] in clock.now }
            if hasHistory { configuration.history = .seconds(3_600) }
        }
    }

    private func collections(_ adapter: SQLiteStorageAdapter) async throws -> [String] {
        try await adapter.databasePool.read { database in
            try String.fetchAll(database, sql: "SELECT path FROM collections ORDER BY path")
        }
    }

    /// Trims the log up to its last two changes, which stay.
    private func end(_ adapter: SQLiteStorageAdapter) async throws {
        for number in 0..<2 { try await adapter.set("z/\(number)", [:]) }
        try await adapter.compact()
    }

    @Test("A collection is removed when the log no longer has the removal of its last document")
    func removed() async throws {
        let adapter = try adapter()
        for number in 0..<100 {
            try await adapter.set("sessions/\(number)/events/1", [:])
            try await adapter.set("sessions/\(number)/events/2", [:])
            try await adapter.delete("sessions/\(number)/events/1")
            if number != 7 { try await adapter.delete("sessions/\(number)/events/2") }
        }
        try await end(adapter)
        #expect(try await collections(adapter) == ["sessions/7/events", "z"])
        #expect(try await adapter.checkIntegrity().isSound)
    }

    @Test("A collection that returns gets a new number, also in adapters that know the former one")
    func returns() async throws {
        let (one, other) = (try adapter(), try adapter())
        try await one.set("a/1", ["n": 1])
        #expect(try await other.document("a/1")?["n"] == 1)
        try await one.delete("a/1")
        try await end(one)
        #expect(try await collections(one) == ["z"])
        // The other adapter has cached the number of "a", and must not write with it.
        try await other.set("a/2", ["n": 2])
        #expect(try await other.document("a/2")?["n"] == 2)
        #expect(try await one.document("a/2")?["n"] == 2)
        #expect(try await one.found(DocumentQuery("a")).documents.map(\.id) == ["2"])
        #expect(try await one.checkIntegrity().isSound)
    }

    @Test("A collection stays as long as the history has it")
    func history() async throws {
        let adapter = try adapter(hasHistory: true)
        let time = try await adapter.set("a/1", ["n": 1]).commitTime
        try await adapter.delete("a/1")
        try await end(adapter)
        var request = ReadRequest(.query(try QueryValidation.checked(DocumentQuery("a"))))
        request.asOf = time
        let found = try await adapter.read(request).found
        #expect(found.map(\.id) == ["1"])
        for _ in 0..<8 {
            clock.move(by: .seconds(900))
            try await end(adapter)
        }
        #expect(try await collections(adapter) == ["z"])
        #expect(try await adapter.checkIntegrity().isSound)
    }

    @Test("Adapters that fill and empty the same collections agree", arguments: [false, true])
    func agree(hasHistory: Bool) async throws {
        let seed = SeededRandom.chosenSeed()
        var random = SeededRandom(seed: seed)
        let adapters = try (0..<3).map { _ in try adapter(hasHistory: hasHistory) }
        var model: [DocumentPath: Int64] = [:]
        for step in Int64(0)..<1_500 {
            let adapter = adapters[Int.random(in: 0..<3, using: &random)]
            let collection = CollectionPath("p/\(Int.random(in: 0..<6, using: &random))/c")
            let path = collection.document("\(Int.random(in: 0..<2, using: &random))")
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                try await adapter.set(path, ["n": .integer(step)])
                model[path] = step
            case 3..<6:
                try await adapter.delete(path)
                model[path] = nil
            case 6..<8:
                let found = try await adapter.document(path)
                let expected = model[path].map { DocumentValue.integer($0) }
                #expect(found?["n"] == expected, "seed \(seed), step \(step)")
            case 8:
                let expected = model.keys.filter { $0.collection == collection }.map(\.id).sorted()
                let found = try await adapter.found(DocumentQuery(collection)).documents
                #expect(found.map(\.id) == expected, "seed \(seed), step \(step)")
                let group = try await adapter.found(DocumentQuery(group: "c")).documents
                #expect(Set(group.map(\.path)) == Set(model.keys), "seed \(seed), step \(step)")
            default:
                clock.move(by: .seconds(600))
                try await adapter.compact()
            }
        }
        #expect(try await adapters[0].checkIntegrity().isSound, "seed \(seed)")
    }
}
#endif
