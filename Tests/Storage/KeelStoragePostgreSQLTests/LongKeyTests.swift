#if PostgreSQL
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Keys that are longer than PostgreSQL can index", .timeLimit(.minutes(10)))
struct LongKeyTests {
    /// Letters that do not repeat: the server compresses a key before it measures it.
    private static func letters(_ count: Int, _ random: inout SeededRandom) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return String((0..<count).map { _ in letters.randomElement(using: &random) ?? "a" })
    }

    @Test("The server refuses a key of 2,800 bytes")
    func refusal() async throws {
        var random = SeededRandom(seed: SeededRandom.printedSeed())
        let key = Self.letters(2_800, &random)
        try await PostgreSQLServer.withStore { adapter in
            let server = try await PostgreSQLServer.shared.value
            func insert(_ key: some StringProtocol) async throws {
                try await server.run(
                    """
                    INSERT INTO keel.entries(store, ix, cid, key, did)
                    VALUES (\(adapter.store.number), 1, 1, '\(key)'::bytea, 1)
                    """
                )
            }
            await #expect(throws: StorageError.self) { try await insert(key) }
            try await insert(key.prefix(EntryKey.longest))
        }
    }

    @Test("Values, ids and names of any length are indexed, and found in the order of memory")
    func agrees() async throws {
        var random = SeededRandom(seed: SeededRandom.printedSeed())
        let long = Self.letters(5_000, &random)
        let texts = [1, 1_498, 1_499, 1_500, 2_000, 2_704, 5_000].flatMap { count in
            ["", "a", "b"].map { String(long.prefix(count)) + $0 }
        }
        let name = Self.letters(1_500, &random)
        let (parent, id) = (Self.letters(1_500, &random), Self.letters(1_498, &random))
        let collection: CollectionPath = "\(name)/\(parent)/\(name)"
        let writes = texts.indices.map { place in
            let other = texts[place * 8 % texts.count]
            let fields: DocumentFields = [
                "v": .string(texts[place]), "w": .string(other),
                "l": .array([.string(other), "x"]), "t": .string("fox " + other),
            ]
            return DocumentWrite(
                DocumentPath(collection, id + "\(place)"),
                .set(DocumentBody(fields))
            )
        }
        let schemas = [
            StorageSchema(
                indexes: [
                    IndexDefinition(name, [.ascending("v"), .ascending("w")]),
                    IndexDefinition(name, scope: .group, [.descending("v")]),
                ]
            ),
            StorageSchema(
                indexes: [
                    IndexDefinition(name, [.ascending("v"), .descending("w")]),
                    IndexDefinition(name, [.contains("l"), .ascending("w")]),
                ],
                searches: [SearchDefinition(name, fields: ["t"])]
            ),
        ]
        let all = DocumentQuery(collection)
        let queries = [
            all.order(by: "v").order(by: "w"), all.order(by: "v").order(by: "w").limit(to: 5),
            all.order(by: "v").order(by: "w", .descending),
            DocumentQuery(group: name).order(by: "v", .descending),
            all.where(.arrayContains("l", "x")).order(by: "w"), all.matching("fox"),
        ]
        try await PostgreSQLServer.withStore { adapter in
            let memory = InMemoryStorageAdapter()
            let (stored, remembered) = (StorageClient(adapter), StorageClient(memory))
            let adapters: [any StorageAdapter] = [adapter, memory]
            for one in adapters {
                // One half before the documents, as commits write it, and the other as a build does.
                try await one.prepare(schemas[0])
                _ = try await one.commit([WriteBatch(writes)])[0].get()
                try await one.prepare(schemas[1])
            }
            try await adapter.finishIndexes()
            for (place, query) in queries.enumerated() {
                let expected = try await remembered.queryDocuments(query).map(\.id)
                #expect(!expected.isEmpty)
                let found = try await stored.queryDocuments(query).map(\.id)
                #expect(found == expected, "query \(place)")
            }
            let report = try await adapter.checkIntegrity()
            #expect(report == .init(problems: [], documentCount: texts.count))
            let longest = try await PostgreSQLServer.shared.value.run(
                "SELECT max(octet_length(key)) FROM keel.entries WHERE store = \(adapter.store.number)"
            )
            #expect(longest == Int64(EntryKey.longest))
        }
    }
}
#endif
