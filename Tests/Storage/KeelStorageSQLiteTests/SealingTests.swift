#if SQLite
import KeelTestSupport
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

@Suite("Sealing")
struct SealingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func sealed(key: UInt64 = 42, allowing: Bool = false) throws -> SQLiteStorageAdapter {
        try folder.adapter { configuration in
            configuration.sealing = FakeByteSealing(key: key)
            configuration.allowsPlaintextSearch = allowing
        }
    }

    /// All of the store's bytes on disk.
    private func contents() throws -> Data {
        try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil)
            .reduce(into: Data()) { $0 += try Data(contentsOf: $1) }
    }

    private func holds(_ text: String) throws -> Bool {
        try contents().range(of: Data(text.utf8)) != nil
    }

    @Test("the files contain no plaintext of fields outside ordered indexes")
    func hidesContents() async throws {
        let adapter = try sealed()
        try await adapter.prepare(
            StorageSchema(indexes: [
                IndexDefinition("a", [.ascending("city")]),
                IndexDefinition("a", [.ascending("mail")], isEqualityOnly: true),
            ])
        )
        let union = FieldChange("log", .transform(.maximum(.integer(123))))
        try await adapter.apply(
            WriteBatch(
                id: "batch",
                [
                    DocumentWrite(
                        "a/1",
                        .set(
                            DocumentBody([
                                "secret": "planted-secret", "city": "planted-city",
                                "mail": "planted-mail", "log": "planted-log",
                            ])
                        )
                    ),
                    DocumentWrite("a/1", .update([union])),
                ]
            )
        )
        try await adapter.set("a/1", ["secret": "planted-second", "mail": "planted-other"])
        try await adapter.set("a/2", ["secret": "planted-third", "city": "planted-city"])
        for planted in ["secret", "second", "third", "mail", "other", "log"] {
            #expect(try !holds("planted-\(planted)"), "\(planted) is readable")
        }
        // An ordered index reveals its values, as documented.
        #expect(try holds("planted-city"))
        try await adapter.compact()
        #expect(try !holds("planted-secret"))
        #expect(try await sealed().document("a/1")?["secret"] == "planted-second")
        #expect(try await adapter.checkIntegrity().isSound)
    }

    @Test("an equality-only index finds documents through fingerprints")
    func equality() async throws {
        let adapter = try sealed()
        let index = IndexDefinition(
            "a",
            [.ascending("mail"), .contains("tags")],
            isEqualityOnly: true
        )
        let plain = IndexDefinition("a", [.descending("mail")], isEqualityOnly: true)
        try await adapter.prepare(StorageSchema(indexes: [index, plain]))
        for number in 0..<30 {
            try await adapter.set(
                "a/\(number)",
                ["mail": .string("m\(number % 3)"), "tags": [.integer(Int64(number % 2)), "x"]]
            )
        }
        try await adapter.set("a/6", ["mail": "m1"])
        let query = DocumentQuery("a").where(.equal("mail", "m0"))
        // The path follows the direction of the index's last component, here backwards.
        let (documents, plan) = try await adapter.found(query)
        #expect(plan?.access == .index(plain.name))
        #expect(documents.map(\.id) == ["0", "12", "15", "18", "21", "24", "27", "3", "9"])
        let page = query.start(after: documents[2])
        #expect(try await adapter.found(page).documents == Array(documents[3...]))
        #expect(try await adapter.values(query, [.count()]) == [9])
        let tagged = query.where(.arrayContains("tags", 1))
        #expect(try await adapter.found(tagged).plan?.access == .index(index.name))
        #expect(try await adapter.ids(tagged) == ["15", "21", "27", "3", "9"])
        let ranged = DocumentQuery("a").where(.greater("mail", "m1"))
        #expect(try await adapter.found(ranged).plan?.access == .scan)
        #expect(try await adapter.ids(ranged).count == 10)
        #expect(try await adapter.checkIntegrity().isSound)
    }

    @Test("a store opens only with its original key")
    func checksKey() async throws {
        try await sealed().set("a/1", ["n": 1])
        let none = await storageError { _ = try folder.adapter() }
        let wrong = await storageError { _ = try sealed(key: 43) }
        #expect(none?.code == .permissionDenied)
        #expect(wrong?.code == .permissionDenied)
        #expect(wrong?.message.contains("open it with that keyset") == true)
        #expect(wrong?.code.advice.contains("store's key") == true)
        #expect(try await sealed().document("a/1")?["n"] == 1)
    }

    // MARK: Rotation

    private func rotated(
        _ key: UInt64,
        former: [UInt64] = [],
        isReadOnly: Bool = false
    ) throws -> SQLiteStorageAdapter {
        try folder.adapter { configuration in
            configuration.sealing = FakeByteSealing(key: key, former: former, first: 1)
            configuration.isReadOnly = isReadOnly
            if !isReadOnly { configuration.history = .seconds(86_400) }
        }
    }

    @Test("a store that was opened under a new key opens without the former one")
    func renewsProof() async throws {
        try rotated(1).close()
        try rotated(2, former: [1]).close()
        #expect(try await rotated(2).document("a/1") == nil)
    }

    @Test("a store whose proof no key opens is recognized by a document", arguments: [true, false])
    func findsDocument(isReadOnly: Bool) async throws {
        let first = try rotated(1)
        try await first.set("a/1", ["n": 1])
        try await first.set("a/2", ["n": 2])
        let second = try rotated(2, former: [1])
        try await second.set("a/1", ["n": 3])
        // As if the key had been rotated while the store was open: the proof is under the first key.
        try await Tampering.run("UPDATE meta SET value = x'00' WHERE key = 'seal'", on: second)
        try second.close()
        let found = try rotated(2, isReadOnly: isReadOnly)
        #expect(try await found.document("a/1")?["n"] == 3)
        let lost = await storageError { _ = try await found.document("a/2") }
        #expect(lost?.code == .corrupted)
        let wrong = await storageError { _ = try rotated(3) }
        #expect(wrong?.code == .permissionDenied)
    }

    @Test("resealing makes a former key unnecessary")
    func reseals() async throws {
        let first = try rotated(1)
        try await first.prepare(
            StorageSchema(indexes: [
                IndexDefinition("a", [.ascending("mail")], isEqualityOnly: true)
            ])
        )
        let batch = WriteBatch(
            id: "batch",
            (0..<1_200).map {
                let fields: DocumentFields = ["n": .integer(Int64($0)), "mail": "m"]
                return DocumentWrite("a/\($0)", .set(DocumentBody(fields)))
            }
        )
        let receipt = try await first.apply(batch)
        try await first.set("a/7", ["n": 8, "mail": "m"])
        try first.close()
        let second = try rotated(2, former: [1])
        let changes = try await second.allChanges().next
        let report = try await second.reseal()
        // The documents, the receipt, and the state of the one before its change.
        #expect(report.resealed >= 1_202 && report.unreadable == 0)
        #expect(try await second.reseal().resealed == 0)
        #expect(try await second.allChanges(after: changes).changes.isEmpty)
        try second.close()
        let third = try rotated(2)
        #expect(try await third.apply(batch).commitTime == receipt.commitTime)
        #expect(try await third.document("a/7")?["n"] == 8)
        var past = ReadRequest(.documents(["a/7"]))
        past.asOf = receipt.commitTime
        let former = try await third.read(past).documents
        #expect(former[0]?["n"] == 7)
        let query = DocumentQuery("a").where(.equal("mail", "m"))
        #expect(try await third.values(query, [.count()]) == [1_200])
        #expect(try await third.checkIntegrity().isSound)
    }

    @Test("a receipt under a key that an adapter lacks fails only the batch that is repeated")
    func isolatesReceipt() async throws {
        let first = try rotated(1)
        let second = try rotated(2, former: [1])
        let repeated = WriteBatch(id: "batch", [DocumentWrite("a/1", .set(DocumentBody(["n": 1])))])
        try await second.apply(repeated)
        let other = WriteBatch([DocumentWrite("a/2", .set(DocumentBody(["n": 2])))])
        let codes = try await first.commit([repeated, other]).map { result -> StorageError.Code? in
            if case .failure(let error) = result { error.code } else { nil }
        }
        #expect(codes == [.corrupted, nil])
        #expect(try await second.document("a/2")?["n"] == 2)
    }

    @Test("resealing counts what no key opens, and does nothing while the key is absent")
    func resealsReadable() async throws {
        let sealing = RefusingByteSealing()
        let adapter = try folder.adapter { $0.sealing = sealing }
        for number in 0..<3 { try await adapter.set("a/\(number)", ["n": 1]) }
        sealing.refuse("a/1")
        let report = try await adapter.reseal()
        #expect(report.resealed == 2 && report.unreadable == 1)
        sealing.refuse(nil)
        sealing.isAbsent = true
        let error = await storageError { _ = try await adapter.reseal() }
        #expect(error?.code == .permissionDenied)
        sealing.isAbsent = false
        #expect(try await adapter.checkIntegrity().isSound)
        let plain = try folder.adapter("Plain.sqlite")
        #expect(await storageError { _ = try await plain.reseal() }?.code == .invalidArgument)
    }

    @Test("an unsealed store cannot be opened with a key")
    func refusesPlain() async throws {
        try folder.adapter().close()
        #expect(await storageError { _ = try sealed() }?.code == .permissionDenied)
    }

    @Test("a body moved to another document is rejected")
    func detectsMoves() async throws {
        let adapter = try sealed()
        try await adapter.set("a/1", ["n": 1])
        try await adapter.set("a/2", ["n": 2])
        try await Tampering.run(
            "UPDATE documents SET body = (SELECT body FROM documents WHERE id = '1') WHERE id = '2'",
            on: adapter
        )
        #expect(await storageError { _ = try await adapter.document("a/2") }?.code == .corrupted)
        #expect(try await !adapter.checkIntegrity().isSound)
    }

    @Test("text search is rejected unless plaintext search is allowed")
    func textSearch() async throws {
        let schema = StorageSchema(searches: [SearchDefinition("a", fields: ["title"])])
        let strict = try sealed()
        #expect(!strict.capabilities.contains(.textSearch))
        #expect(await storageError { try await strict.prepare(schema) }?.code == .unsupported)
        let lenient = try sealed(allowing: true)
        #expect(lenient.capabilities.contains(.textSearch))
        try await lenient.prepare(schema)
        try await lenient.set("a/1", ["title": "words"])
        #expect(try await lenient.ids(DocumentQuery("a").matching("words")) == ["1"])
    }
}
#endif
