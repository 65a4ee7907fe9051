import Foundation
import Keel
import Testing

/// A row of the old database.
private struct NoteRow: Sendable {
    var id: Int64
    var text: String
    var updated: Date
}

/// The old database, behind its own library.
private protocol OldNotes: Sendable {
    /// Returns the next rows, in the order of their ids.
    func rows(after id: Int64, limit: Int) async throws -> [NoteRow]
    func count() async throws -> Int
}

private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: String
    var text: String
    var updated: Date

    init(_ row: NoteRow) {
        id = String(row.id)
        text = row.text
        // In microseconds, as it is stored, so that it can be compared.
        updated = Timestamp(row.updated).date
    }
}

private struct NotMoved: Error {
    var different: [Int64]
}

private struct Move: Sendable {
    /// How far the import has come, and whether the app uses the new store.
    static let progress: DocumentPath = "imports/notes"

    let storage: StorageClient
    let notes: DocumentCollection<Note>

    init(_ storage: StorageClient) {
        self.storage = storage
        notes = storage.collection("notes", as: Note.self)
    }

    func importAll(from old: some OldNotes) async throws {
        var last = try await storage.findDocument(Self.progress)?["last"]?.integerValue ?? 0
        // A batch has up to 500 writes: 499 rows, and the id of the last one.
        while case let rows = try await old.rows(after: last, limit: 499), let end = rows.last?.id {
            try await storage.commit { batch in
                for row in rows { try batch.save(Note(row), in: notes) }
                try batch.set(Self.progress, ["last": .integer(end)])
            }
            last = end
        }
    }

    /// Returns the ids of the rows that are missing from the store, or differ there.
    func differences(from old: some OldNotes) async throws -> [Int64] {
        var different: [Int64] = []
        var last: Int64 = 0
        while case let rows = try await old.rows(after: last, limit: 500), let end = rows.last?.id {
            let found = try await notes.find(rows.map { String($0.id) })
            for (row, note) in zip(rows, found) where note != Note(row) {
                different.append(row.id)
            }
            last = end
        }
        return different
    }

    /// Moves the notes, unless that has been done: the app then uses the new store.
    func finish(from old: some OldNotes) async throws {
        let state = try await storage.findDocument(Self.progress)
        guard state?["isDone"]?.booleanValue != true else { return }
        try await importAll(from: old)
        let different = try await differences(from: old)
        guard different.isEmpty, try await notes.count() == old.count() else {
            throw NotMoved(different: different)
        }
        try await storage.mergeDocument(Self.progress, ["isDone": true])
    }
}

@Suite("Guide: from another database", .timeLimit(.minutes(1)))
struct GuideImportExamples {
    private struct Killed: Error {}

    /// An old database in memory, which can end the import.
    private struct Rows: OldNotes {
        var all: [NoteRow]
        var end = Int64.max

        func rows(after id: Int64, limit: Int) async throws -> [NoteRow] {
            if id >= end { throw Killed() }
            return Array(all.filter { $0.id > id }.prefix(limit))
        }

        func count() async throws -> Int { all.count }
    }

    private let rows = Rows(
        all: (1...1200).map { number in
            let time = Date(timeIntervalSince1970: 1_700_000_000.25 + Double(number))
            return NoteRow(id: Int64(number), text: "Note \(number)", updated: time)
        }
    )

    @Test("An import continues where it was ended, is verified, and runs once")
    func moved() async throws {
        let storage = StorageClient(try SQLiteStorageAdapter(at: .temporary()))
        let move = Move(storage)
        var killed = rows
        killed.end = 500
        await #expect(throws: Killed.self) { try await move.finish(from: killed) }
        #expect(try await move.notes.count() == 998)

        try await move.finish(from: rows)
        #expect(try await move.notes.count() == 1200)
        try await move.notes.delete("7")
        #expect(try await move.differences(from: rows) == [7])
        // The app has changed its notes since: nothing is imported again.
        try await move.finish(from: rows)
        #expect(try await move.notes.find("7") == nil)
    }

    private struct Todo: Codable, Identifiable, Equatable, Sendable {
        var id: String
        var title: String
        var stars: Int
    }

    @Test("A field has another name in the next release")
    func migrated() async throws {
        let sqlite = try SQLiteStorageAdapter(at: .temporary())
        try await StorageClient(sqlite).setDocument("tasks/1", ["id": "1", "text": "Milk"])

        let adapter = sqlite.migrating(
            DocumentMigrations([
                DocumentMigration("tasks", to: 1) { fields, _ in
                    fields["title"] = fields["text"]
                    fields["text"] = nil
                },
                DocumentMigration("tasks", to: 2) { fields, _ in fields["stars"] = 0 },
            ])
        )
        let storage = StorageClient(adapter)
        // Once after the update, if queries compare the changed fields.
        let report = try await adapter.migrateAll()
        for failure in report.failures { print(failure.path) }

        #expect(report.migrated == 1)
        let tasks = storage.collection("tasks", as: Todo.self)
        #expect(try await tasks.get("1") == Todo(id: "1", title: "Milk", stars: 0))
    }

    @Test("Indexes that a release no longer declares are removed")
    func indexes() async throws {
        let sqlite = try SQLiteStorageAdapter(at: .temporary())
        let former = StorageSchema(indexes: [IndexDefinition("tasks", [.ascending("text")])])
        try await StorageClient(sqlite, schema: former).prepare()

        let schema = StorageSchema(indexes: [
            IndexDefinition("tasks", [.ascending("title"), .descending("stars")])
        ])
        let storage = StorageClient(sqlite, schema: schema)
        try await storage.prepare()
        let declared = Set(schema.indexes.map { StorageSchema(indexes: [$0]) })
        for index in try await sqlite.indexes() where !declared.contains(index.schema) {
            try await sqlite.dropIndexes(in: index.schema)
        }

        #expect(try await sqlite.indexes().map(\.schema) == [schema])
    }
}
