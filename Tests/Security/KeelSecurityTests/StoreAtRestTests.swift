#if Crypto && SQLite
import Foundation
import KeelSecurity
import KeelStorage
import KeelStorageSQLite
import Testing

@Suite("A store encrypted with a key ring", .timeLimit(.minutes(5)))
struct StoreAtRestTests {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "keel-security-\(UUID().uuidString)")

    private func storage(_ ring: KeyRing) async throws -> StorageClient {
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.sealing = ring
        let adapter = try SQLiteStorageAdapter(
            at: .file(folder.appending(path: "Store.sqlite")),
            configuration: configuration
        )
        let schema = StorageSchema(indexes: [
            IndexDefinition("notes", [.ascending("mail")], isEqualityOnly: true),
            IndexDefinition("notes", [.ascending("city")]),
        ])
        try await adapter.prepare(schema)
        return StorageClient(adapter, configuration: StorageClient.Configuration(schema: schema))
    }

    private func shows(_ text: String) throws -> Bool {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        try #require(!names.isEmpty)
        return try names.contains { name in
            let data = try Data(contentsOf: folder.appending(path: name))
            return data.range(of: Data(text.utf8)) != nil
        }
    }

    @Test("Database and log expose no planted text except the field of an ordered index")
    func hides() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var keyset = try Keyset.make(.aes256GCM)
        for round in 0..<3 {
            let storage = try await storage(KeyRing(keyset))
            try await storage.setDocument(
                "notes/\(round)",
                ["text": "planted-text", "mail": "planted-mail", "city": "planted-city"]
            )
            // An equality index finds documents written before the rotations.
            let query = DocumentQuery("notes").where(.equal("mail", "planted-mail"))
            #expect(try await storage.queryDocuments(query).count == round + 1)
            #expect(try !shows("planted-text") && !shows("planted-mail"))
            #expect(try shows("planted-city"))
            try keyset.rotate()
        }
    }

    @Test("A store opens after the key of its creation was destroyed while it was open")
    func losesFirstKey() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let ring = KeyRing(try Keyset.make(.aes256GCM))
        let first = try await storage(ring)
        for number in 0..<3 { try await first.setDocument("notes/\(number)", ["n": 1]) }
        var keyset = ring.keyset
        let old = keyset.primaryID
        try keyset.rotate()
        ring.replace(with: keyset)
        for number in 0..<3 { try await first.setDocument("notes/\(number)", ["n": 2]) }
        try keyset.destroy(old)
        let second = try await storage(KeyRing(keyset))
        let notes = try await second.queryDocuments(DocumentQuery("notes"))
        #expect(notes.map { $0["n"] } == [2, 2, 2])
        for note in notes { try await second.deleteDocument(note.path) }
        let third = try await storage(KeyRing(keyset))
        #expect(try await third.count(DocumentQuery("notes")) == 0)
    }

    @Test("Rotations under load fail no read")
    func rotatesUnderLoad() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let ring = KeyRing(try Keyset.make(.aes256GCM))
        let storage = try await storage(ring)
        for number in 0..<20 {
            try await storage.setDocument("notes/\(number)", ["n": .integer(Int64(number))])
        }
        let reads = try await withThrowingTaskGroup(of: Int.self) { group in
            for reader in 0..<4 {
                group.addTask {
                    for round in 0..<100 {
                        let number = (round * 7 + reader) % 20
                        let document = try await storage.getDocument("notes/\(number)")
                        try #require(document["n"] == .integer(Int64(number)))
                    }
                    return 100
                }
            }
            group.addTask {
                for round in 0..<100 {
                    let number = round % 20
                    try await storage.setDocument("notes/\(number)", ["n": .integer(Int64(number))])
                }
                return 0
            }
            group.addTask {
                for _ in 0..<25 {
                    var keyset = ring.keyset
                    try keyset.rotate()
                    ring.replace(with: keyset)
                    await Task.yield()
                }
                return 0
            }
            return try await group.reduce(0, +)
        }
        #expect(reads == 400)
        #expect(ring.keyset.keys.count == 26)
        let later = try await self.storage(KeyRing(ring.keyset))
        #expect(try await later.count(DocumentQuery("notes")) == 20)
    }
}
#endif
