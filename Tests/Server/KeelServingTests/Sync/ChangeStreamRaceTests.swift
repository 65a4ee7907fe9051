import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Races of change streams")
struct ChangeStreamRaceTests {
    private static let rounds = 120

    @Test(
        "Listeners that join, leave and return during commits end with the store's state",
        arguments: 1...8
    )
    func races(seed: UInt64) async throws {
        let adapter = InMemoryStorageAdapter()
        var configuration = ChangeService.Configuration()
        configuration.clock = TestClock()
        configuration.mostBufferedBytes = seed.isMultiple(of: 2) ? 2_000 : 1 << 20
        let service = ChangeService(adapter: adapter, configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Self.write(to: StorageClient(adapter), seed: seed) }
            for listener in UInt64(0)..<6 {
                group.addTask {
                    var follower = StreamFollower(service, isNarrow: listener.isMultiple(of: 2))
                    try await follower.follow(seed: seed * 100 + listener)
                    try await follower.expectEqual(to: StorageClient(adapter))
                }
            }
            try await group.waitForAll()
        }
        #expect(service.listenerCount == 0)
    }

    /// Writes at random; two documents are always equal, because they are written in one batch.
    private static func write(to store: StorageClient, seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        for round in 0..<Int64(rounds) {
            let path = DocumentPath("a/\(Int.random(in: 0..<8, using: &random))")
            switch Int.random(in: 0..<5, using: &random) {
            case 0: try await store.deleteDocument(path)
            case 1: try await store.setDocument("b/\(path.id)", ["n": .integer(round)])
            case 2:
                try await store.commit { batch in
                    for id in ["p", "q"] { try batch.set("a/\(id)", ["n": .integer(round)]) }
                }
            default: try await store.setDocument(path, ["n": .integer(round)])
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
        }
        try await store.setDocument("a/end", ["n": 1])
    }
}

/// A copy of a part of a store, updated by streams that break off and are resumed.
private struct StreamFollower {
    let service: ChangeService
    let isNarrow: Bool
    private var documents: [DocumentPath: Document] = [:]
    private var revisions: [DocumentPath: Revision] = [:]
    private var lastID = ""
    private var isDone = false

    init(_ service: ChangeService, isNarrow: Bool) {
        self.service = service
        self.isNarrow = isNarrow
    }

    mutating func follow(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        while !isDone {
            // A stream that starts over does not report what was removed before it.
            if lastID.isEmpty { documents = [:] }
            let query = isNarrow ? "collection=a" : ""
            var stream = try await service.stream(query, lastEventID: lastID)
            var rest = Int.random(in: 1..<60, using: &random)
            while rest > 0, !isDone, let event = try await stream.next() {
                try take(event)
                rest -= 1
                if Int.random(in: 0..<4, using: &random) == 0 { await Task.yield() }
            }
        }
    }

    private mutating func take(_ event: ServerSentEvent) throws {
        switch event.type {
        case "change": try take(FirestoreJSON(parsing: event.data.utf8))
        case "checkpoint":
            lastID = event.lastEventID
            #expect(documents["a/p"]?["n"] == documents["a/q"]?["n"], "half a batch was shown")
            isDone = documents["a/end"] != nil
        case "progress": lastID = event.lastEventID
        default: Issue.record("an event “\(event.type)”")
        }
    }

    private mutating func take(_ change: FirestoreJSON) throws {
        let path = DocumentPath(try #require(change["path"]?.text))
        let number = try #require(change["rev"]?.wholeNumber)
        if let last = revisions[path] {
            #expect(number >= last.number, "the revision of “\(path)” went back")
        }
        revisions[path] = Revision(number: number)
        let decoding = FirestoreDecoding(
            database: "projects/keel/databases/(default)",
            isExtended: true
        )
        documents[path] = try change["doc"].map { try decoding.document($0) }
    }

    func expectEqual(to store: StorageClient) async throws {
        for collection: CollectionPath in isNarrow ? ["a"] : ["a", "b"] {
            let stored = try await store.queryDocuments(DocumentQuery(collection))
            let copy = documents.values.filter { $0.path.collection == collection }
                .sorted { $0.path < $1.path }
            #expect(copy == stored)
        }
    }
}
