import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Synchronization
import Testing

/// Listeners report when their store cannot be reached, and when it can again.
@Suite("Listeners during an outage", .timeLimit(.minutes(2)))
struct OutageTests {
    /// The ways in which listeners learn of changes.
    enum Way: CaseIterable {
        case changeLog, queryChanges, polling
    }

    /// A store in memory that can be out of reach.
    private final class Remote: Sendable {
        let store = InMemoryStorageAdapter()
        private let isAway = Mutex(false)
        private let failures = Mutex(0)
        private let code: StorageError.Code

        init(failingWith code: StorageError.Code = .unavailable) { self.code = code }

        /// The number of calls that have failed.
        var failureCount: Int { failures.withLock { $0 } }

        func setAway(_ isAway: Bool) { self.isAway.withLock { $0 = isAway } }

        func client(_ way: Way) -> StorageClient {
            let remote = store.failing { [self] _ in
                guard isAway.withLock({ $0 }) else { return nil }
                failures.withLock { $0 += 1 }
                return .fail(code)
            }
            var configuration = StorageClient.Configuration()
            configuration.pollInterval = .milliseconds(5)
            let adapter: any StorageAdapter =
                switch way {
                case .changeLog: remote
                case .queryChanges: PolledStorageAdapter(upstream: remote, followsQueries: true)
                case .polling: PolledStorageAdapter(upstream: remote)
                }
            return StorageClient(adapter, configuration: configuration)
        }

        /// Writes beside the client.
        func write(_ path: DocumentPath) async throws {
            try await StorageClient(store).setDocument(path, ["n": 1])
        }
    }

    @Test(
        "A query's listener keeps its result, reports the outage once, and continues",
        arguments: Way.allCases
    )
    func query(_ way: Way) async throws {
        let remote = Remote()
        try await remote.write("notes/a")
        var snapshots = remote.client(way).listen(to: DocumentQuery("notes")).makeAsyncIterator()
        let first = try #require(try await snapshots.next())
        #expect(!first.isFromCache)

        remote.setAway(true)
        // Ends the request of the reader that waits for changes.
        try await remote.write("notes/b")
        var last = try #require(try await snapshots.next())
        if !last.isFromCache {
            #expect(last.documents.map(\.id) == ["a", "b"])
            last = try #require(try await snapshots.next())
            #expect(last.changes.isEmpty)
        }
        #expect(last.isFromCache)
        #expect([["a"], ["a", "b"]].contains(last.documents.map(\.id)))

        try await remote.write("notes/c")
        remote.setAway(false)
        last = try #require(try await snapshots.next())
        #expect(last.documents.map(\.id) == ["a", "b", "c"])
        #expect(!last.isFromCache)
    }

    @Test("A document's listener reports an outage and its end", arguments: Way.allCases)
    func document(_ way: Way) async throws {
        let remote = Remote()
        try await remote.write("notes/a")
        let client = remote.client(way)
        var snapshots = client.listenToDocument("notes/a").makeAsyncIterator()
        let first = try #require(try await snapshots.next())
        #expect(!first.isFromCache)
        remote.setAway(true)
        try await StorageClient(remote.store).setDocument("notes/a", ["n": 2])
        var last = first
        while !last.isFromCache { last = try #require(try await snapshots.next()) }
        #expect(last.exists)
        remote.setAway(false)
        let again = try #require(try await snapshots.next())
        #expect(!again.isFromCache)
        #expect(again.document?["n"] == 2)
    }

    @Test(
        "A listener that begins during an outage waits for its first state",
        arguments: Way.allCases
    )
    func begins(_ way: Way) async throws {
        let remote = Remote()
        try await remote.write("notes/a")
        remote.setAway(true)
        let client = remote.client(way)
        async let first = Self.first(of: client)
        try await waitUntil { remote.failureCount > 0 }
        remote.setAway(false)
        let snapshot = try #require(try await first)
        #expect(snapshot.documents.map(\.id) == ["a"])
        #expect(!snapshot.isFromCache)
    }

    private static func first(of client: StorageClient) async throws -> QuerySnapshot? {
        var snapshots = client.listen(to: DocumentQuery("notes")).makeAsyncIterator()
        return try await snapshots.next()
    }

    @Test("A call that the store has canceled does not end a listener", arguments: Way.allCases)
    func canceledByStore(_ way: Way) async throws {
        let remote = Remote(failingWith: .cancelled)
        try await remote.write("notes/a")
        remote.setAway(true)
        let client = remote.client(way)
        async let first = Self.first(of: client)
        async let count = Self.count(of: client)
        try await waitUntil { remote.failureCount > 1 }
        remote.setAway(false)
        #expect(try await first?.documents.map(\.id) == ["a"])
        #expect(try await count == [.integer(1)])
    }

    private static func count(of client: StorageClient) async throws -> [DocumentValue]? {
        var values = client.observe(DocumentQuery("notes"), [.count()]).makeAsyncIterator()
        return try await values.next()
    }

    @Test("A value's listener is silent about outages", arguments: Way.allCases)
    func value(_ way: Way) async throws {
        struct Note: Codable, Equatable { var n: Int }
        let remote = Remote()
        try await remote.write("notes/a")
        let notes = remote.client(way).collection("notes", as: Note.self)
        let count = Mutex(0)
        // A store is polled only while the reader waits for the next value.
        let listening = Task {
            var values: [Note?] = []
            for try await value in notes.listen("a") {
                values.append(value)
                count.withLock { $0 += 1 }
                if value == nil { break }
            }
            return values
        }
        try await waitUntil { count.withLock { $0 } == 1 }
        remote.setAway(true)
        try await remote.write("notes/b")
        try await waitUntil { remote.failureCount > 0 }
        remote.setAway(false)
        try await StorageClient(remote.store).deleteDocument("notes/a")
        #expect(try await listening.value == [Note(n: 1), nil])
    }

    @Test("A live collection shows an outage and keeps its items")
    @MainActor
    func live() async throws {
        struct Note: Codable { var n: Int }
        let remote = Remote()
        try await remote.write("notes/a")
        let live = LiveCollection(remote.client(.polling).collection("notes", as: Note.self))
        live.start()
        try await waitUntil { live.items.count == 1 && !live.isFromCache }
        remote.setAway(true)
        try await waitUntil { live.isFromCache }
        #expect(live.items.count == 1)
        #expect(live.phase == .ready)
        remote.setAway(false)
        try await waitUntil { !live.isFromCache }
    }
}
