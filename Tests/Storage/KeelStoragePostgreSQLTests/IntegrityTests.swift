#if PostgreSQL
import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Integrity of PostgreSQL stores")
struct IntegrityTests {
    /// A change to the tables, and the problems that it causes.
    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let problems: [String]
    }

    static let damages = [
        Damage(
            testDescription: "a missing entry",
            sql: "DELETE FROM keel.entries WHERE store = $ AND did = 2",
            problems: [
                "the index 1 lacks an entry of “notes/2”",
                "the index 1 has 699 entries instead of 700",
            ]
        ),
        Damage(
            testDescription: "a missing document",
            sql: "DELETE FROM keel.documents WHERE store = $ AND did = 3",
            problems: [
                "the index 1 has 700 entries instead of 699",
                "the index 2 has 700 entries instead of 699",
                "there are 1 entries without a document", "there are 2 words without a document",
            ]
        ),
        Damage(
            testDescription: "words of a document",
            sql: "DELETE FROM keel.words WHERE store = $ AND did = 3",
            problems: ["the index 2 has 699 entries instead of 700"]
        ),
        Damage(
            testDescription: "a missing collection",
            sql: "DELETE FROM keel.collections WHERE store = $",
            problems: ["there are 700 documents without a collection"]
        ),
        Damage(
            testDescription: "an unreadable former state",
            sql: "UPDATE keel.history SET body = '\\xff' WHERE store = $",
            problems: ["in the history: "]
        ),
    ]

    private func filled(_ adapter: PostgreSQLStorageAdapter) async throws {
        try await adapter.prepare(
            StorageSchema(
                indexes: [IndexDefinition("notes", [.ascending("n")])],
                searches: [SearchDefinition("notes", fields: ["text"])]
            )
        )
        let writes = (1...700).map { number in
            let fields: DocumentFields = [
                "n": .integer(Int64(number)), "text": .string("note \(number)"),
            ]
            return DocumentWrite("notes/\(number)", .set(DocumentBody(fields)))
        }
        for batch in [writes[..<350], writes[350...], writes[..<1]] {
            for result in try await adapter.commit([WriteBatch(Array(batch))]) {
                _ = try result.get()
            }
        }
    }

    @Test("A sound store, sealed or not, has no problems", arguments: [false, true])
    func sound(isSealed: Bool) async throws {
        try await PostgreSQLServer.withStore {
            $0.history = .seconds(3600)
            $0.sealing = isSealed ? FakeByteSealing(key: 42) : nil
            $0.allowsPlaintextSearch = true
        } _: { adapter in
            #expect(try await adapter.checkIntegrity() == .init(problems: [], documentCount: 0))
            try await filled(adapter)
            let report = try await adapter.checkIntegrity()
            #expect(report == .init(problems: [], documentCount: 700))
            #expect(report.isSound)
        }
    }

    @Test("Damage is found", arguments: damages)
    func damaged(_ damage: Damage) async throws {
        try await PostgreSQLServer.withStore {
            $0.history = .seconds(3600)
        } _: { adapter in
            try await filled(adapter)
            let sql = damage.sql.replacing("$", with: "\(adapter.store.number)")
            try await PostgreSQLServer.shared.value.run(sql)
            let problems = try await adapter.checkIntegrity().problems
            for problem in damage.problems {
                #expect(problems.contains { $0.hasPrefix(problem) }, "\(problems.suffix(3))")
            }
        }
    }
}
#endif
