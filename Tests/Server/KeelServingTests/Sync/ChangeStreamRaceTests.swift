import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
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
        let service = ChangeService(adapter) {
            $0.mostBufferedBytes = seed.isMultiple(of: 2) ? 2_000 : 1 << 20
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Self.write(to: StorageClient(adapter), seed: seed) }
            for listener in UInt64(0)..<8 {
                group.addTask {
                    let store = StorageClient(adapter)
                    let kinds = StreamFollower.Kind.allCases
                    let kind = kinds[Int(listener) % kinds.count]
                    var follower = try StreamFollower(service, store, kind)
                    try await follower.follow(seed: seed * 100 + listener)
                    try await follower.expectEqual()
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
            case 3:
                // A document that is in the result of a query for a moment only.
                let batches = try ["red", "blue"].map { color in
                    let fields: DocumentFields = ["n": .integer(round), "color": .string(color)]
                    return WriteBatch([try DocumentWrite.set(fields, at: path)])
                }
                for result in try await store.adapter.commit(batches) { _ = try result.get() }
            case 2:
                try await store.commit { batch in
                    for id in ["p", "q"] { try batch.set("a/\(id)", ["n": .integer(round)]) }
                }
            default:
                let color = Bool.random(using: &random) ? "red" : "blue"
                let fields: DocumentFields = ["n": .integer(round), "color": .string(color)]
                try await store.setDocument(path, fields)
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
        }
        try await store.setDocument("a/end", ["n": 1, "color": "red"])
    }
}

/// A copy of a part of a store, updated by streams that break off and are resumed.
private struct StreamFollower {
    /// The scope that a follower copies.
    enum Kind: CaseIterable {
        case everything, collection, equality, range
    }

    let service: ChangeService
    let store: StorageClient
    /// The queries whose results the copy has.
    private let queries: [DocumentQuery]
    private let parameters: String
    /// Whether the follower also reads the result itself from time to time.
    private let readsResult: Bool
    private var documents: [DocumentPath: Document] = [:]
    private var revisions: [DocumentPath: Revision] = [:]
    private var lastID = ""
    /// Whether the current stream has told of the last write.
    private var hasEnd = false
    private var isDone = false

    init(_ service: ChangeService, _ store: StorageClient, _ kind: Kind) throws {
        (self.service, self.store) = (service, store)
        readsResult = kind == .equality || kind == .range
        switch kind {
        case .everything: (queries, parameters) = ([DocumentQuery("a"), DocumentQuery("b")], "")
        case .collection: (queries, parameters) = ([DocumentQuery("a")], "collection=a")
        case .equality:
            queries = [DocumentQuery("a").where(.equal("color", "red"))]
            parameters = try ChangeService.query("a", "color", "EQUAL", #"{"stringValue":"red"}"#)
        case .range:
            queries = [DocumentQuery("a").where(.less("n", 60))]
            parameters = try ChangeService.query("a", "n", "LESS_THAN", #"{"integerValue":"60"}"#)
        }
    }

    mutating func follow(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        while !isDone {
            // A stream that starts over does not report what was removed before it.
            if lastID.isEmpty { documents = [:] }
            hasEnd = false
            var stream = try await service.stream(parameters, lastEventID: lastID)
            var rest = Int.random(in: 1..<60, using: &random)
            while rest > 0, !isDone, let event = try await stream.next() {
                try take(event)
                rest -= 1
                if readsResult, Int.random(in: 0..<4, using: &random) == 0 { try await read() }
                if Int.random(in: 0..<4, using: &random) == 0 { await Task.yield() }
            }
        }
    }

    private mutating func take(_ event: ServerSentEvent) throws {
        switch event.type {
        case "change": try take(FirestoreJSON(parsing: event.data.utf8))
        case "checkpoint":
            lastID = event.lastEventID
            if !readsResult {
                #expect(documents["a/p"]?["n"] == documents["a/q"]?["n"], "half a batch was shown")
            }
            isDone = hasEnd
        case "progress": lastID = event.lastEventID
        default: Issue.record("an event “\(event.type)”")
        }
    }

    /// Reads the result, which may be ahead of the stream: the stream must tell of what leaves it from then on.
    private mutating func read() async throws {
        for query in queries {
            for document in try await store.queryDocuments(query)
            where document.revision.number > revisions[document.path]?.number ?? 0 {
                documents[document.path] = document
                revisions[document.path] = document.revision
            }
        }
    }

    private mutating func take(_ change: FirestoreJSON) throws {
        let path = DocumentPath(try #require(change["path"]?.text))
        if path == "a/end" { hasEnd = true }
        if change["left"] == true {
            documents[path] = nil
            return
        }
        let number = try #require(change["rev"]?.wholeNumber)
        if let last = revisions[path], number < last.number {
            #expect(readsResult, "the revision of “\(path)” went back")
            return
        }
        revisions[path] = Revision(number: number)
        let decoding = FirestoreDecoding(
            database: "projects/keel/databases/(default)",
            isExtended: true
        )
        documents[path] = try change["doc"].map { try decoding.document($0) }
    }

    func expectEqual() async throws {
        var stored: [Document] = []
        for query in queries { stored += try await store.queryDocuments(query) }
        stored.sort { $0.path < $1.path }
        #expect(documents.values.sorted { $0.path < $1.path } == stored)
    }
}
