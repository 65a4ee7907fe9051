import Foundation
import KeelConformance
import KeelRepositories
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import Synchronization
import Testing

@Suite("Local data sources", .timeLimit(.minutes(3)))
struct LocalDataSourceTests {
    private static let conditions: [Predicate<Note>] = {
        let names = ["note 1", "note 2"]
        return [
            #Predicate { $0.stars >= 3 },
            #Predicate { $0.stars > 1 && $0.stars != 3 },
            #Predicate { $0.text == "note 3" },
            #Predicate { names.contains($0.text) },
            #Predicate { $0.text.starts(with: "note 1") },
            #Predicate { $0.stars == 1 || $0.text == "note 3" },
            // Not expressible as a query of the store.
            #Predicate { $0.text.count > 6 && $0.stars % 2 == 1 },
        ]
    }()

    private static func subject(
        _ open: @escaping @Sendable () throws -> any LocalDataSource<Note>
    ) -> LocalDataSourceSubject<Note> {
        LocalDataSourceSubject(
            make: { Note(id: $0, text: "note \($1)", stars: $1 % 7) },
            conditions: conditions,
            open: open
        )
    }

    @Test("An in-memory source keeps its promises", arguments: LocalDataSourceCheck<Note>.all)
    func inMemory(_ check: LocalDataSourceCheck<Note>) async throws {
        try await check.run(on: Self.subject { InMemoryDataSource<Note>() })
    }

    @Test(
        "A collection in an in-memory store keeps its promises",
        arguments: LocalDataSourceCheck<Note>.all
    )
    func collection(_ check: LocalDataSourceCheck<Note>) async throws {
        try await check.run(
            on: Self.subject {
                let storage = StorageClient(InMemoryStorageAdapter())
                return CollectionDataSource(storage.collection("notes", as: Note.self))
            }
        )
    }

    #if SQLite
    @Test("A collection in SQLite keeps its promises", arguments: LocalDataSourceCheck<Note>.all)
    func sqlite(_ check: LocalDataSourceCheck<Note>) async throws {
        try await check.run(
            on: Self.subject {
                let storage = StorageClient(try SQLiteStorageAdapter(at: .temporary()))
                return CollectionDataSource(storage.collection("notes", as: Note.self))
            }
        )
    }
    #endif

    // MARK: The checks themselves

    @Test("A source that breaks a promise fails a check of that group", arguments: Flaw.allCases)
    func notices(_ flaw: Flaw) async throws {
        let checks = LocalDataSourceCheck<Note>.all.filter { $0.group == flaw.group }
        var caught = 0
        for check in checks {
            // A check of the group may pass; the count below proves that at least one does not.
            let isCaught = try await recordsIssue {
                try await check.run(on: Self.subject { FlawedDataSource(flaw) })
            }
            if isCaught { caught += 1 }
        }
        #expect(caught > 0)
        // A group that fails entirely says nothing about the flaw.
        #expect(caught < checks.count || checks.count < 3)
    }

    @Test("Each check has a unique name")
    func names() {
        let names = LocalDataSourceCheck<Note>.all.map(\.testDescription)
        #expect(Set(names).count == names.count)
        #expect(names.count > 12)
    }
}

/// A promise that a source breaks.
enum Flaw: String, CaseIterable, Sendable {
    case losesLast
    case foldsCase
    case keepsOld
    case doublesReplaced
    case movesReplaced
    case refusesMissing
    case deletesTooMuch
    case keepsSome
    case ignoresConditions
    case remembersAnswers
    case losesUpdates

    /// The group that must notice it.
    var group: LocalDataSourceCheck<Note>.Group {
        switch self {
        case .losesLast, .foldsCase: .finding
        case .keepsOld, .doublesReplaced: .saving
        case .movesReplaced: .order
        case .refusesMissing, .deletesTooMuch, .keepsSome: .deleting
        case .ignoresConditions, .remembersAnswers: .conditions
        case .losesUpdates: .concurrency
        }
    }
}

/// A source in memory that breaks one promise.
private final class FlawedDataSource: LocalDataSource {
    private let flaw: Flaw
    private let notes = Mutex<[Note]>([])
    private let before = Mutex<[Note]>([])
    private let answers = Mutex<[String: [Note]]>([:])

    init(_ flaw: Flaw) { self.flaw = flaw }

    private func key(_ id: String) -> String { flaw == .foldsCase ? id.lowercased() : id }

    func find(_ id: String) -> Note? {
        notes.withLock { $0.first { key($0.id) == key(id) } }
    }

    func findAll() -> [Note] { notes.withLock { $0 } }

    func find(where predicate: Predicate<Note>) throws(DataSourceError) -> [Note] {
        let all = findAll()
        if flaw == .ignoresConditions { return all }
        let name = "\(predicate)"
        if flaw == .remembersAnswers, let known = answers.withLock({ $0[name] }), !known.isEmpty {
            return known
        }
        do {
            let found = try all.filter { try predicate.evaluate($0) }
            answers.withLock { $0[name] = found }
            return found
        } catch { throw DataSourceError(.invalidRequest, cause: error) }
    }

    func save(_ elements: [Note]) {
        // A save has not seen what the previous one wrote.
        let seen = findAll()
        var changed = flaw == .losesUpdates ? before.withLock { $0 } : seen
        before.withLock { $0 = seen }
        for note in flaw == .losesLast
            ? elements.dropLast(elements.count > 5 ? 1 : 0) : elements[...]
        {
            guard let place = changed.firstIndex(where: { key($0.id) == key(note.id) }) else {
                changed.append(note)
                continue
            }
            switch flaw {
            case .keepsOld: continue
            case .doublesReplaced: changed.append(note)
            case .movesReplaced:
                changed.remove(at: place)
                changed.append(note)
            default: changed[place] = note
            }
        }
        notes.withLock { $0 = changed }
    }

    func delete(_ ids: [String]) throws(DataSourceError) {
        let known = Set(findAll().map(\.id))
        if flaw == .refusesMissing, !known.isSuperset(of: ids) { throw DataSourceError(.notFound) }
        notes.withLock { notes in
            notes.removeAll { note in
                ids.contains(note.id)
                    || flaw == .deletesTooMuch && ids.contains("1") && note.id == "4"
            }
        }
    }

    func removeAll() {
        notes.withLock { notes in
            notes.removeFirst(notes.count - (flaw == .keepsSome ? min(1, notes.count) : 0))
        }
    }
}
