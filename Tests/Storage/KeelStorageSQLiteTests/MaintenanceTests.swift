#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

@Suite("Maintenance")
struct MaintenanceTests {
    let folder: TemporaryFolder
    let schema = StorageSchema(
        indexes: [
            IndexDefinition("a", [.ascending("n")]),
            IndexDefinition("a", scope: .group, [.contains("tags"), .descending("n")]),
        ],
        searches: [SearchDefinition("a", fields: ["text"])]
    )

    init() throws { folder = try TemporaryFolder() }

    private func filled(_ name: String = "Store.sqlite") async throws -> SQLiteStorageAdapter {
        let adapter = try folder.adapter(name)
        try await adapter.prepare(schema)
        for number in 0..<Int64(20) {
            try await adapter.set(
                "a/\(number)",
                ["n": .integer(number), "tags": [1, "x"], "text": "some words"]
            )
        }
        return adapter
    }

    @Test(
        "the integrity check finds planted damage",
        arguments: [
            "DELETE FROM entries WHERE rid = 3",
            "INSERT INTO entries VALUES (1, 1, x'00', 4)",
            "UPDATE entries SET key = x'0102' WHERE rid = 5 AND ix = 1",
            "DELETE FROM documents WHERE id = '7'",
            "UPDATE documents SET body = x'a1' WHERE id = '8'",
            "UPDATE documents SET body = x'a0' WHERE id = '9'",
            "DELETE FROM search_3 WHERE rowid = 2",
            "DELETE FROM collections",
        ]
    )
    func integrity(_ damage: String) async throws {
        let adapter = try await filled()
        #expect(try await adapter.checkIntegrity() == .init(problems: [], documentCount: 20))
        try await Tampering.run(damage, on: adapter)
        let report = try await folder.adapter().checkIntegrity()
        #expect(!report.isSound)
        #expect(!report.problems.joined().contains("some words"))
    }

    @Test("an error of maintenance names the operation")
    func namesOperation() async throws {
        let writer = try await filled()
        let start = try #require(try await writer.set("a/1", [:]).position)
        let adapter = try folder.adapter { $0.isReadOnly = true }
        let errors = [
            await storageError { try await adapter.compact() },
            await storageError { try await adapter.registerReader("copy", at: start) },
            await storageError { try await adapter.unregisterReader("copy") },
        ]
        #expect(errors.allSatisfy { $0?.code == .readOnly })
        let operations = errors.map { $0?.operation ?? "" }
        #expect(operations == ["compact", "registerReader", "unregisterReader"])
    }

    @Test("a backup made during writes is complete and independent")
    func backup() async throws {
        let adapter = try await filled()
        let writer = try folder.adapter()
        let destination = folder.file("backups/Copy.sqlite")
        let writing = Task {
            var number: Int64 = 0
            while !Task.isCancelled {
                number += 1
                // Both or neither must be in the copy.
                let body = DocumentBody(["n": .integer(number)])
                _ = try? await writer.apply(
                    WriteBatch([DocumentWrite("a/x", .set(body)), DocumentWrite("b/y", .set(body))])
                )
            }
        }
        try await adapter.backup(to: destination)
        writing.cancel()
        _ = await writing.value
        let copy = try SQLiteStorageAdapter(at: .file(destination))
        #expect(try await copy.document("a/x")?["n"] == copy.document("b/y")?["n"])
        #expect(try await copy.checkIntegrity().isSound)
        let cursor = try #require(try await adapter.set("a/1", [:]).position)
        let error = await storageError { _ = try await copy.allChanges(after: cursor) }
        #expect(error?.code == .cursorExpired)
        #expect(
            await storageError { try await adapter.backup(to: destination) }?.code == .alreadyExists
        )
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.file("backups").path)
                .allSatisfy { $0.hasPrefix("Copy.sqlite") }
        )
    }

    @Test("a backup leaves a file alone that appears at its place meanwhile")
    func backupRace() async throws {
        let destination = folder.file("backups/Copy.sqlite")
        let other = Data("another backup".utf8)
        let adapter = try folder.adapter { configuration in
            configuration.onBackupStep = { try? other.write(to: destination) }
        }
        try await adapter.set("a/1", ["n": 1])
        let error = await storageError { try await adapter.backup(to: destination) }
        #expect(error?.code == .alreadyExists)
        #expect(try Data(contentsOf: destination) == other)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("backups").path)
        #expect(names == ["Copy.sqlite"])
    }

    @Test("compaction frees space and keeps all documents")
    func compacts() async throws {
        let adapter = try await filled()
        let body = DocumentBody(["filling": .bytes(Array(repeating: 1, count: 200_000))])
        for number in 0..<20 {
            try await adapter.apply(WriteBatch([DocumentWrite("big/\(number)", .set(body))]))
        }
        for number in 0..<20 { try await adapter.delete("big/\(number)") }
        try await adapter.compact()
        let size = try FileManager.default.attributesOfItem(atPath: folder.file().path)[.size]
        #expect(try #require(size as? Int) < 1_000_000)
        #expect(try await adapter.checkIntegrity() == .init(problems: [], documentCount: 20))
        #expect(try await adapter.found(DocumentQuery("a").order(by: "n")).documents.count == 20)
    }
}
#endif
