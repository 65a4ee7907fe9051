import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Synchronization
import Testing

@MainActor
@Suite("Live values", .timeLimit(.minutes(2)))
struct LiveValueTests {
    struct Note: Codable, Hashable, Identifiable, Sendable {
        var id: String
        var text: String
        var folder = "a"
    }

    private let storage = StorageClient(InMemoryStorageAdapter())
    private var notes: DocumentCollection<Note> { storage.collection("notes", as: Note.self) }

    @Test("A new query can be shown, and the values are kept until its result arrives")
    func changesQuery() async throws {
        try await notes.saveAll([
            Note(id: "1", text: "b"), Note(id: "2", text: "a"),
            Note(id: "3", text: "c", folder: "b"),
        ])
        let live = LiveCollection(notes) { $0.where(.equal("folder", "a")).order(by: "text") }
        let running = Task { await live.run() }
        try await waitUntil { live.phase == .ready }
        #expect(live.items.map(\.id) == ["2", "1"])
        live.show { $0.where(.equal("folder", "b")) }
        #expect(live.items.map(\.id) == ["2", "1"] && live.phase == .loading)
        try await waitUntil { live.phase == .ready }
        #expect(live.items.map(\.id) == ["3"])
        // A change for the previous query is ignored, and one for this query is shown.
        try await notes.save(Note(id: "4", text: "d"))
        try await notes.save(Note(id: "5", text: "e", folder: "b"))
        try await waitUntil { live.items.count == 2 }
        #expect(live.items.map(\.id) == ["3", "5"])
        try await waitUntil { storage.hub.count == 1 }
        live.show(keepingItems: false) { $0.where(.equal("folder", "a")) }
        #expect(live.items.isEmpty && live.phase == .loading)
        try await waitUntil { live.items.count == 3 }
        running.cancel()
        await running.value
        try await waitUntil { storage.hub.count == 0 }
    }

    @Test("Showing the same query does not start it again")
    func sameQuery() async throws {
        let live = LiveCollection(notes) { $0.order(by: "text") }
        live.start()
        try await waitUntil { live.phase == .ready }
        live.show { $0.order(by: "text") }
        #expect(live.phase == .ready)
        live.stop()
    }

    @Test("Many queries in a row end with the last one and one listener")
    func manyQueries() async throws {
        try await notes.saveAll((0..<20).map { Note(id: "\($0)", text: "t", folder: "\($0)") })
        let live = LiveCollection(notes)
        live.start()
        for number in 0..<20 {
            live.show { $0.where(.equal("folder", "\(number)")) }
            if number.isMultiple(of: 3) { await Task.yield() }
        }
        try await waitUntil { live.phase == .ready }
        #expect(live.items.map(\.id) == ["19"])
        try await waitUntil { storage.hub.count == 1 }
        live.stop()
    }

    @Test("A started live value listens until it is released")
    func starts() async throws {
        var live: LiveCollection<Note>? = LiveCollection(notes)
        var one: LiveDocument<Note>? = LiveDocument(notes, id: "1")
        live?.start()
        live?.start()
        one?.start()
        try await notes.save(Note(id: "1", text: "b"))
        try await waitUntil { live?.items.count == 1 && one?.value?.text == "b" }
        #expect(storage.hub.count == 2)
        live = nil
        one = nil
        try await waitUntil { storage.hub.count == 0 }
    }

    /// The error of reads; nil lets them succeed.
    private final class Failure: Sendable {
        private let error: Mutex<StorageError?>
        init(_ error: StorageError?) { self.error = Mutex(error) }
        var current: StorageError? { error.withLock { $0 } }
        func end() { error.withLock { $0 = nil } }
    }

    /// An adapter whose reads fail permanently for as long as the test wants.
    private struct Failing: ForwardingStorageAdapter {
        let upstream: any StorageAdapter
        let failure: Failure

        func prepare(_ schema: StorageSchema) async throws(StorageError) {}
        func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
            if let error = failure.current { throw error }
            return try await upstream.read(request)
        }
    }

    @Test("A live value reports a failure and recovers by itself")
    func comesBack() async throws {
        let failure = Failure(StorageError(.permissionDenied, "not signed in"))
        let clock = TestClock()
        var configuration = StorageClient.Configuration()
        configuration.clock = clock
        let storage = StorageClient(
            Failing(upstream: InMemoryStorageAdapter(), failure: failure),
            configuration: configuration
        )
        let notes = storage.collection("notes", as: Note.self)
        try await notes.save(Note(id: "1", text: "b"))
        let (live, one) = (LiveCollection(notes), LiveDocument(notes, id: "1"))
        live.start()
        one.start()
        try await waitUntil { live.phase == .failed && one.phase == .failed }
        #expect(live.error?.code == .permissionDenied && one.error?.code == .permissionDenied)
        // Thirty seconds is the longest pause, however many failures there were.
        for _ in 0..<20 { await clock.advance(by: .seconds(30), onceAsleep: 2) }
        await clock.waitForSleepers(2)
        failure.end()
        await clock.advance(by: .seconds(30))
        try await waitUntil { live.phase == .ready && one.phase == .ready }
        #expect(live.error == nil && live.items.count == 1)
        #expect(one.error == nil && one.value?.text == "b")
        live.stop()
        one.stop()
    }

    @Test("A rejected query fails until another one is shown")
    func refusedQuery() async throws {
        let live = LiveCollection(notes) { $0.limit(to: -1) }
        live.start()
        try await waitUntil { live.phase == .failed }
        #expect(live.error?.code == .invalidArgument)
        live.show { $0 }
        try await waitUntil { live.phase == .ready }
        #expect(live.error == nil)
        struct Refusal: Error {}
        live.show { _ in throw Refusal() }
        try await waitUntil { live.phase == .failed }
        #expect(live.error?.cause is Refusal)
        live.stop()
    }

    @Test("Live collections can show groups and versions")
    func groups() async throws {
        let ratings = storage.collectionGroup("notes", as: Note.self).versioned
        let live = LiveCollection(ratings)
        live.start()
        try await storage.collection("users/ada/notes", as: Note.self)
            .save(Note(id: "1", text: "b"))
        try await waitUntil { live.items.count == 1 }
        #expect(live.items.first?.parent == "users/ada")
        live.stop()
    }
}
