import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Races of feeds")
struct SyncFeedRaceTests {
    @Test(
        "Readers miss nothing during commits, interrupted streams and canceled calls",
        arguments: 1...6
    )
    func races(seed: UInt64) async throws {
        let adapter = InMemoryStorageAdapter()
        let clock = TestClock()
        let endpoint = FeedEndpoint(ChangeService(adapter: adapter))
        let feed = SyncFeed(transport: endpoint, configuration: .test(on: clock))
        let time = Task { while !Task.isCancelled { await clock.advance(by: .milliseconds(100)) } }
        defer { time.cancel() }
        let store = StorageClient(adapter)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var random = SeededRandom(seed: seed)
                for round in Int64(0)..<150 {
                    let path = DocumentPath("a/\(Int.random(in: 0..<8, using: &random))")
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: try await store.deleteDocument(path)
                    case 1: endpoint.breakStreams()
                    case 2:
                        try await store.commit { batch in
                            for id in ["p", "q"] {
                                try batch.set("a/\(id)", ["n": .integer(round)])
                            }
                        }
                    default: try await store.setDocument(path, ["n": .integer(round)])
                    }
                    for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
                }
                try await store.setDocument("a/end", ["n": 1])
            }
            for reader in UInt64(0)..<4 {
                group.addTask {
                    var copy = FeedCopy(seed: seed * 10 + reader, limit: Int(reader) * 3 + 1)
                    try await copy.follow(feed)
                    let stored = try await store.queryDocuments(DocumentQuery("a"))
                    #expect(copy.documents.values.sorted { $0.path < $1.path } == stored)
                }
            }
            try await group.waitForAll()
        }
    }
}

/// A copy of a collection, updated by waiting for changes.
private struct FeedCopy {
    private(set) var documents: [DocumentPath: Document] = [:]
    private var revisions: [DocumentPath: Revision] = [:]
    private var random: SeededRandom
    private let limit: Int
    private var cursor: ChangeCursor?

    init(seed: UInt64, limit: Int) {
        random = SeededRandom(seed: seed)
        self.limit = limit
    }

    mutating func follow(_ feed: SyncFeed) async throws {
        while true {
            let request = ChangeRequest(
                after: cursor,
                scope: .collections(["a"]),
                limit: limit,
                waitTimeout: .seconds(30)
            )
            let call = Task { try await feed.changes(request) }
            if Int.random(in: 0..<6, using: &random) == 0 { call.cancel() }
            guard let page = try await Self.page(call) else { continue }
            take(page)
            if page.isCaughtUp, documents["a/end"] != nil { return }
        }
    }

    /// Returns the page of a call; nil if the call was canceled.
    private static func page(_ call: Task<ChangePage, any Error>) async throws -> ChangePage? {
        do {
            return try await call.value
        } catch let error as StorageError where error.code == .cancelled { return nil }
    }

    private mutating func take(_ page: ChangePage) {
        if let cursor { #expect(page.next >= cursor, "the position went back") }
        #expect(page.changes.count <= limit)
        cursor = page.next
        for change in page.changes {
            switch change {
            case .current(let document):
                rise(document.path, document.revision)
                documents[document.path] = document
            case .removed(let path, let revision, _):
                rise(path, revision)
                documents[path] = nil
            case .leftScope(let path): Issue.record("“\(path)” cannot leave")
            case .unreadable(let document): Issue.record("\(document.error)")
            }
        }
        guard page.isCaughtUp else { return }
        #expect(documents["a/p"]?["n"] == documents["a/q"]?["n"], "half a batch was shown")
    }

    private mutating func rise(_ path: DocumentPath, _ revision: Revision) {
        if let last = revisions[path] {
            #expect(revision >= last, "the revision of “\(path)” went back")
        }
        revisions[path] = revision
    }
}
