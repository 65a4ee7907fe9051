#if SQLite
import KeelTestSupport
import KeelStorage
import KeelStorageSQLite
import Testing

@Suite("Migration of a file with damaged documents")
struct DamagedMigrationTests {
    private static let migrations = DocumentMigrations([
        DocumentMigration("a", to: 1) { fields, _ in fields["new"] = true }
    ])

    @Test(
        "Undamaged documents are migrated, damaged ones named, and repaired ones migrated later",
        arguments: [false, true],
        [1, 2, 200]
    )
    func migrates(isSealed: Bool, batchSize: Int) async throws {
        let folder = try TemporaryFolder()
        func open(_ name: String) throws -> SQLiteStorageAdapter {
            try folder.adapter(name) {
                if isSealed { $0.sealing = FakeByteSealing(key: 42) }
            }
        }
        let adapter = try open("Store.sqlite")
        for number in 0..<10 {
            try await adapter.set("a/\(number)", ["n": .integer(Int64(number))])
            try await adapter.set("b/1/a/\(number)", ["n": .integer(Int64(number))])
        }
        // Bodies without their ends: the first, three in a row, and the last.
        let damaged = ["0", "4", "5", "6", "9"]
        try await Tampering.run(
            """
            UPDATE documents SET body = substr(body, 1, length(body) - 1)
            WHERE id IN ('\(damaged.joined(separator: "','"))')
                AND cid = (SELECT cid FROM collections WHERE path = 'a')
            """,
            on: adapter
        )
        try await adapter.backup(to: folder.file("copy.sqlite"))
        let migrating = adapter.migrating(Self.migrations)
        let report = try await migrating.migrateAll(batchSize: batchSize)
        #expect(report.migrated == 15)
        #expect(report.failures.map(\.path) == damaged.map { DocumentPath("a/\($0)") })
        #expect(report.failures.allSatisfy { $0.error.code == .corrupted })
        #expect(try await adapter.document("b/1/a/5")?["new"] == true)
        #expect(try await adapter.document("a/8")?["new"] == true)
        try await adapter.set("a/5", ["n": 5])
        let next = try await migrating.migrateAll(batchSize: batchSize)
        #expect(next.migrated == 1)
        #expect(next.failures.map(\.path.id) == ["0", "4", "6", "9"])
        try adapter.close()
        // A backup has the damaged rows unchanged, and all others.
        let copy = try open("copy.sqlite")
        let same = try await copy.migrating(Self.migrations).migrateAll(batchSize: batchSize)
        #expect(same == report)
        try copy.close()
    }
}
#endif
