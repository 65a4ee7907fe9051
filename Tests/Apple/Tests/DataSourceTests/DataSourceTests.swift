import CoreData
import Foundation
import KeelConformance
import KeelRepositories
import SwiftData
import Testing

/// An error of the database.
private struct DiskFull: Error {}

@Suite("Data sources over Apple's databases on stand-ins", .timeLimit(.minutes(2)))
struct DataSourceTests {
    // MARK: Promises

    @Test("SwiftData keeps its promises", arguments: LocalDataSourceCheck<Note>.all)
    func swiftData(_ check: LocalDataSourceCheck<Note>) async throws {
        try await check.run(
            on: LocalDataSourceSubject(make: Note.numbered, conditions: Note.conditions) {
                SwiftDataSource<Note>(modelContainer: try ModelContainer(for: NoteModel.self))
            }
        )
    }

    @Test("Core Data keeps its promises", arguments: LocalDataSourceCheck<Note>.all)
    func coreData(_ check: LocalDataSourceCheck<Note>) async throws {
        try await check.run(
            on: LocalDataSourceSubject(make: Note.numbered, conditions: Note.conditions) {
                CoreDataSource<Note>(Note.container())
            }
        )
    }

    // MARK: Conditions

    /// A predicate, its Core Data condition, and the number of 20 notes that a database returns.
    struct Case: Sendable {
        let predicate: Predicate<Note>
        let format: String?
        let fetched: Int
    }

    static let cases = [
        Case(predicate: #Predicate { $0.stars >= 3 }, format: "rating >= 3", fetched: 11),
        Case(
            predicate: #Predicate { $0.stars > 1 && $0.isOpen },
            format: "(rating > 1 AND isOpen == true)",
            fetched: 7
        ),
        // A condition that the database cannot express does not narrow the result; the others still do.
        Case(
            predicate: #Predicate { $0.stars == 3 && $0.tags.contains("tag 3") },
            format: "rating == 3",
            fetched: 3
        ),
        Case(
            predicate: #Predicate { $0.stars == 3 || $0.tags.contains("tag 3") },
            format: nil,
            fetched: 20
        ),
        Case(predicate: #Predicate { $0.text < "note 3" }, format: nil, fetched: 20),
        Case(predicate: #Predicate { $0.text.count == 6 }, format: nil, fetched: 20),
        Case(predicate: #Predicate { $0.city == nil }, format: "city == nil", fetched: 7),
        Case(predicate: #Predicate { $0.text == "note 3" }, format: "text == note 3", fetched: 1),
    ]

    @Test("Core Data returns only elements that meet the condition", arguments: cases.indices)
    func coreDataConditions(_ index: Int) async throws {
        let expected = Self.cases[index]
        let container = Note.container()
        let source = CoreDataSource<Note>(container)
        try await source.save((0..<20).map { Note.numbered("\($0)", $0) })
        let found = try await source.find(where: expected.predicate)
        #expect(!found.isEmpty)
        #expect(container.fetches.last?.condition == expected.format)
        #expect(container.fetches.last?.count == expected.fetched)
    }

    @Test("SwiftData returns only elements that meet the condition", arguments: cases.indices)
    func swiftDataConditions(_ index: Int) async throws {
        let expected = Self.cases[index]
        let container = try ModelContainer(for: NoteModel.self)
        let source = SwiftDataSource<Note>(modelContainer: container)
        try await source.save((0..<20).map { Note.numbered("\($0)", $0) })
        let found = try await source.find(where: expected.predicate)
        #expect(!found.isEmpty)
        #expect(container.fetches.last == expected.fetched)
    }

    @Test("Elements with many ids are looked up in few fetches")
    func fewFetches() async throws {
        let notes = (0..<1_200).map { Note.numbered("\($0)", $0) }
        let models = try ModelContainer(for: NoteModel.self)
        try await SwiftDataSource<Note>(modelContainer: models).save(notes)
        #expect(models.fetches.count == 3)
        let objects = Note.container()
        try await CoreDataSource<Note>(objects).save(notes)
        #expect(objects.fetches.count == 3)
    }

    // MARK: Failures

    private func failSave(
        to source: some LocalDataSource<Note>,
        failNextSave: () -> Void
    ) async throws {
        let (old, new) = (Note.numbered("1", 1), Note.numbered("1", 2))
        try await source.save(old)
        failNextSave()
        let error = await #expect(throws: DataSourceError.self) {
            try await source.save([new, Note.numbered("2", 2)])
        }
        #expect(error?.code == .storage)
        #expect(error?.cause is DiskFull)
        #expect(try await source.findAll() == [old])
        try await source.save(new)
        #expect(try await source.findAll() == [new])
    }

    @Test("A failed save leaves SwiftData unchanged, and the next save succeeds")
    func swiftDataFailure() async throws {
        let container = try ModelContainer(for: NoteModel.self)
        try await failSave(to: SwiftDataSource<Note>(modelContainer: container)) {
            container.failNextSave(with: DiskFull())
        }
    }

    @Test("A failed save leaves Core Data unchanged, and the next save succeeds")
    func coreDataFailure() async throws {
        let container = Note.container()
        try await failSave(to: CoreDataSource<Note>(container)) {
            container.failNextSave(with: DiskFull())
        }
    }

    @Test("An object that cannot become an element is an error with its reason")
    func unreadable() async throws {
        let container = Note.container()
        let context = container.newBackgroundContext()
        try await context.perform {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            object.setValue("1", forKey: "name")
            try context.save()
        }
        let error = await #expect(throws: DataSourceError.self) {
            try await CoreDataSource<Note>(container).findAll()
        }
        #expect(error?.cause is Note.Unreadable)
    }

    @Test("Changes saved by another context are visible")
    func otherContexts() async throws {
        let container = Note.container()
        let (one, other) = (CoreDataSource<Note>(container), CoreDataSource<Note>(container))
        try await one.save(Note.numbered("1", 1))
        #expect(try await other.find("1") == Note.numbered("1", 1))
        try await one.save(Note.numbered("1", 2))
        #expect(try await other.find("1") == Note.numbered("1", 2))
        try await one.delete("1")
        #expect(try await other.find("1") == nil)
    }
}
