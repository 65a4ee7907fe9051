import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Synchronization
import Testing

@Suite("Mirrors that are unavailable for long")
struct MirrorAwayTests {
    /// The decorator's events, counted.
    private struct Told {
        var behind = 0
        var mostNames = 0
    }

    private static let count = 30_000
    private static let mostNames = 10_000
    private static let batchSize = 100

    private static func batch(_ number: Int) -> WriteBatch {
        WriteBatch(
            (0..<batchSize).map { place in
                let path = DocumentPath(CollectionPath("a"), "\(number * batchSize + place)")
                return DocumentWrite(path, .set(DocumentBody(["n": .integer(Int64(number))])))
            }
        )
    }

    /// Writes while a mirror is unavailable, makes it available, and writes once more.
    ///
    /// - Returns: The decorator's events, and the number of documents in the mirror.
    private func live(_ primary: some StorageAdapter) async throws -> (told: Told, copied: Int) {
        let isAway = Mutex(true)
        let told = Mutex(Told())
        let copy = InMemoryStorageAdapter()
        let mirror = copy.failing { _ in isAway.withLock { $0 } ? .fail(.unavailable) : nil }
        let adapter = primary.mirrored(to: mirror, comparisonRate: 0) { event in
            told.withLock { told in
                switch event {
                case .isBehind: told.behind += 1
                case .copyFailed(let paths, _): told.mostNames = max(told.mostNames, paths.count)
                default: break
                }
            }
        }
        for number in 0..<Self.count / Self.batchSize {
            for result in try await adapter.commit([Self.batch(number)]) { _ = try result.get() }
            try #require(adapter.waitingCount <= Self.mostNames + Self.batchSize)
        }
        isAway.withLock { $0 = false }
        let last = Self.batch(Self.count / Self.batchSize)
        for result in try await adapter.commit([last]) { _ = try result.get() }
        #expect(adapter.waitingCount == 0)
        let copied = try await StorageClient(copy).count(DocumentQuery("a"))
        return (told.withLock { $0 }, copied)
    }

    @Test("A mirror catches up from the change log without keeping names")
    func withLog() async throws {
        let (told, copied) = try await live(InMemoryStorageAdapter(changeLogCapacity: 60_000))
        #expect(copied == Self.count + Self.batchSize)
        #expect(told.behind == 0)
        #expect(told.mostNames <= Self.mostNames + Self.batchSize)
    }

    @Test("Without a log, discarded names are reported")
    func withoutLog() async throws {
        let store = PolledStorageAdapter(upstream: InMemoryStorageAdapter())
        let (told, copied) = try await live(store)
        #expect(told.behind == Self.count / (Self.mostNames + Self.batchSize))
        #expect(told.mostNames <= Self.mostNames + Self.batchSize)
        #expect(copied < Self.count)
        #expect(copied >= Self.batchSize)
    }

    @Test("A log that does not reach back far enough is reported")
    func shortLog() async throws {
        let (told, copied) = try await live(InMemoryStorageAdapter(changeLogCapacity: 15_000))
        #expect(told.behind == 1)
        #expect(copied < Self.count)
    }

    @Test("Without a log, an unreadable document is named, and the others are copied")
    func passesUnreadable() async throws {
        let store = InMemoryStorageAdapter()
        let isAway = Mutex(true)
        let failed = Mutex<[DocumentPath]>([])
        let copy = InMemoryStorageAdapter()
        let migrations = DocumentMigrations([DocumentMigration("notes", to: 1) { _, _ in }])
        let mirror = copy.failing { _ in isAway.withLock { $0 } ? .fail(.unavailable) : nil }
        let adapter = PolledStorageAdapter(upstream: store).migrating(migrations)
            .mirrored(to: mirror, comparisonRate: 0) { event in
                guard case .copyFailed(let paths, let error) = event, error.code == .schemaTooNew
                else { return }
                failed.withLock { $0 += paths }
            }
        let storage = StorageClient(adapter)
        for number in 1...3 { try await storage.setDocument("notes/\(number)", ["a": 1]) }
        try await StorageClient(store).setDocument("notes/2", ["_version": 3])
        isAway.withLock { $0 = false }
        try await storage.setDocument("notes/4", ["a": 1])
        #expect(failed.withLock { $0 } == ["notes/2"])
        #expect(adapter.waitingCount == 0)
        let copied = try await StorageClient(copy).queryDocuments(DocumentQuery("notes"))
        #expect(copied.map(\.path.id) == ["1", "3", "4"])
    }

    @Test("Two mirrors of one store catch up independently")
    func twoMirrors() async throws {
        let primary = InMemoryStorageAdapter()
        let copies = [InMemoryStorageAdapter(), InMemoryStorageAdapter()]
        // Neither can remember what it has, so the first store does for both.
        let present = PolledStorageAdapter(upstream: copies[0])
        for isAway in [true, false] {
            let away = PolledStorageAdapter(upstream: copies[1])
                .failing { _ in isAway ? .fail(.unavailable) : nil }
            let storage = StorageClient(
                primary.mirrored(to: away, name: "away") { _ in }
                    .mirrored(to: present, name: "present") { _ in }
            )
            for _ in 1...2 { _ = try await storage.addDocument(to: "notes", ["a": 1]) }
        }
        for copy in copies {
            #expect(try await StorageClient(copy).count(DocumentQuery("notes")) == 4)
        }
    }
}
