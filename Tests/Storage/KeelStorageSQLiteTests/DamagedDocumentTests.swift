#if SQLite
import KeelTestSupport
import Foundation
import GRDB
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

/// Removing and replacing documents whose bodies cannot be read.
@Suite("Damaged documents", .timeLimit(.minutes(5)))
struct DamagedDocumentTests {
    /// The ways in which a body becomes unreadable.
    enum Damage: CaseIterable, CustomTestStringConvertible {
        case cutShort, noText, sealedByAnother, torn

        var isSealed: Bool { self == .sealedByAnother || self == .torn }
        var testDescription: String { "\(self)" }

        /// The bytes that replace those of a body.
        var sql: String {
            switch self {
            // A map that ends within its first field, and one with a field that is not UTF-8.
            case .cutShort: "x'a1616e'"
            case .noText: "x'a2616e01616d62c328'"
            // A body sealed for another document, and a sealed body without its end.
            case .sealedByAnother: "(SELECT body FROM documents WHERE cid = 1 AND id = '3')"
            case .torn: "substr(body, 1, length(body) - 3)"
            }
        }
    }

    /// The operations on an unreadable document.
    enum Remedy: CaseIterable, CustomTestStringConvertible {
        case delete, set, setWithTransform, replicate, deleteAndCreate, deleteAtRevision

        var testDescription: String { "\(self)" }
    }

    private let folder: TemporaryFolder
    private let fields: DocumentFields = ["n": 7, "tags": ["new"], "text": "other words"]

    init() throws { folder = try TemporaryFolder() }

    private func adapter(_ damage: Damage) throws -> SQLiteStorageAdapter {
        try folder.adapter { configuration in
            configuration.history = .seconds(3600)
            guard damage.isSealed else { return }
            configuration.sealing = FakeByteSealing(key: 42)
            configuration.allowsPlaintextSearch = true
        }
    }

    private func damaged(_ damage: Damage) async throws -> SQLiteStorageAdapter {
        let adapter = try adapter(damage)
        try await adapter.prepare(
            StorageSchema(
                indexes: [
                    IndexDefinition("a", [.ascending("n")]),
                    IndexDefinition("a", [.ascending("n")], isEqualityOnly: true),
                    IndexDefinition("a", scope: .group, [.contains("tags"), .descending("n")]),
                ],
                searches: [SearchDefinition("a", fields: ["text"])]
            )
        )
        for number in Int64(0)..<6 {
            try await adapter.set(
                "a/\(number)",
                ["n": .integer(number), "tags": ["x", "y"], "text": "some words"]
            )
        }
        try await Tampering.run(
            "UPDATE documents SET body = \(damage.sql) WHERE cid = 1 AND id = '2'",
            on: adapter
        )
        return adapter
    }

    private func write(_ remedy: Remedy, of adapter: SQLiteStorageAdapter) async throws {
        let body = DocumentBody(fields)
        let path: DocumentPath = "a/2"
        switch remedy {
        case .delete: try await adapter.delete(path)
        case .set: try await adapter.set(path, fields)
        case .setWithTransform:
            let transform = FieldTransform("n", .increment(1))
            try await adapter.apply(
                WriteBatch([
                    DocumentWrite(
                        path,
                        .set(
                            DocumentBody(["n": 6, "tags": ["new"], "text": "other words"]),
                            transforms: [transform]
                        )
                    )
                ])
            )
        case .replicate:
            let time = Timestamp(microseconds: 5)
            let replica = Document(
                path: path,
                body: body,
                revision: Revision(number: 5),
                createTime: time,
                updateTime: time
            )
            try await adapter.apply(WriteBatch([DocumentWrite(path, .replicate(replica))]))
        case .deleteAndCreate:
            try await adapter.apply(
                WriteBatch([
                    DocumentWrite(path, .delete), DocumentWrite(path, .set(body), if: .isMissing),
                ])
            )
        case .deleteAtRevision:
            var revision: Revision?
            let page = try await adapter.changes(ChangeRequest())
            // The revision is readable although the body is not.
            let number = try await adapter.databasePool.read { database in
                try Int64.fetchOne(
                    database,
                    sql: "SELECT rev FROM documents WHERE cid = 1 AND id = '2'"
                )
            }
            revision = number.map(Revision.init(number:))
            #expect(page.changes.contains { $0.path == path })
            let wrong = DocumentWrite(path, .delete, if: .revision(Revision(number: 1)))
            let code = await storageError { try await adapter.apply(WriteBatch([wrong])) }?.code
            #expect(code == .conflict)
            try await adapter.apply(
                WriteBatch([DocumentWrite(path, .delete, if: .revision(try #require(revision)))])
            )
        }
    }

    @Test(arguments: Damage.allCases, Remedy.allCases)
    func mends(_ damage: Damage, by remedy: Remedy) async throws {
        let adapter = try await damaged(damage)
        #expect(try await !adapter.checkIntegrity().isSound)
        // A partial change would need the rest of the body.
        let partial = FieldChange("n", .set(1))
        let refused = await storageError {
            try await adapter.apply(WriteBatch([DocumentWrite("a/2", .update([partial]))]))
        }
        #expect(refused?.code == .corrupted && refused?.effect == StorageError.Effect.none)
        try await write(remedy, of: adapter)
        let isGone = remedy == .delete || remedy == .deleteAtRevision
        let document = try await adapter.document("a/2")
        #expect(try document?.fields() == (isGone ? nil : fields))
        // The damaged images of the history remain; index entries must be right.
        let problems = try await adapter.checkIntegrity().problems
        #expect(problems.allSatisfy { $0.hasPrefix("in the history") }, "\(problems)")
        let query = DocumentQuery("a").where(.greaterOrEqual("n", 0))
        let rest = ["0", "1", "3", "4", "5"]
        #expect(try await adapter.ids(query) == (isGone ? rest : rest + ["2"]))
        let tagged = DocumentQuery(group: "a").where(.arrayContains("tags", "x"))
        #expect(try await adapter.ids(tagged).sorted() == rest)
        #expect(try await adapter.ids(DocumentQuery("a").matching("some")).sorted() == rest)
        // A new document may get the row of the old one.
        try await adapter.set("a/9", ["n": 9, "tags": ["x"], "text": "none"])
        #expect(try await adapter.ids(query).last == "9")
        try adapter.close()
    }

    @Test(
        "An index is not used while a document cannot be unsealed",
        arguments: [Damage.sealedByAnother, .torn]
    )
    func buildsIndexes(_ damage: Damage) async throws {
        let adapter = try await damaged(damage)
        let index = IndexDefinition("a", [.ascending("text"), .descending("n")])
        let schema = StorageSchema(indexes: [index])
        try await adapter.prepare(schema)
        let unserved = await storageError { [adapter] in
            var request = ReadRequest(
                .query(DocumentQuery("a").order(by: "text").order(by: "n", .descending))
            )
            request.isStrict = true
            _ = try await adapter.read(request)
        }
        #expect(unserved != nil)
        try await adapter.set("a/2", ["n": 7, "text": "some words"])
        try await adapter.prepare(schema)
        let query = DocumentQuery("a").where(.equal("text", "some words"))
            .order(by: "n", .descending).limit(to: 3)
        let (documents, plan) = try await adapter.found(query)
        #expect(plan?.access == .index(index.name))
        #expect(documents.map(\.id) == ["2", "5", "4"])
        let problems = try await adapter.checkIntegrity().problems
        #expect(problems.allSatisfy { $0.hasPrefix("in the history") }, "\(problems)")
    }

    @Test("An index is not built while the key is unavailable")
    func waitsForKey() async throws {
        let key = RefusingByteSealing()
        let adapter = try folder.adapter { $0.sealing = key }
        for number in Int64(0)..<3 { try await adapter.set("a/\(number)", ["n": .integer(number)]) }
        let schema = StorageSchema(indexes: [IndexDefinition("a", [.ascending("n")])])
        key.isAbsent = true
        #expect(await storageError { try await adapter.prepare(schema) }?.code == .corrupted)
        key.isAbsent = false
        try await adapter.prepare(schema)
        #expect(try await adapter.checkIntegrity().isSound)
        #expect(try await adapter.ids(DocumentQuery("a").order(by: "n")) == ["0", "1", "2"])
    }
}
#endif
