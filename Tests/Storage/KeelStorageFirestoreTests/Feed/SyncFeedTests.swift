import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Streams of a feed")
struct SyncFeedTests {
    private let adapter = InMemoryStorageAdapter()
    private let clock = TestClock()
    private let endpoint: FeedEndpoint
    private let feed: SyncFeed

    private var store: StorageClient { StorageClient(adapter) }

    init() {
        var configuration = ChangeService.Configuration()
        configuration.clock = clock
        endpoint = FeedEndpoint(ChangeService(adapter: adapter, configuration: configuration))
        feed = SyncFeed(transport: endpoint, configuration: .test(on: clock))
    }

    private func position() async throws -> ChangeCursor {
        var request = ChangeRequest()
        while true {
            let page = try await feed.changes(request)
            if page.isCaughtUp { return page.next }
            request.after = page.next
        }
    }

    private func waiting(
        after cursor: ChangeCursor,
        _ scope: ChangeScope = .everything,
        for limit: Duration = .seconds(30)
    ) -> ChangeRequest {
        ChangeRequest(after: cursor, scope: scope, waitTimeout: limit)
    }

    @Test("Pages after the first come from one stream")
    func oneStream() async throws {
        var cursor = try await position()
        let before = endpoint.requests.count
        for number in 0..<10 {
            let reader = Task { [request = waiting(after: cursor)] in
                try await feed.changes(request)
            }
            await clock.waitForSleepers()
            try await store.setDocument("a/\(number)", ["n": 1])
            let page = try await reader.value
            #expect(page.changes.map(\.path) == ["a/\(number)"])
            #expect(page.isCaughtUp)
            cursor = page.next
        }
        // At most one empty page, and the stream.
        #expect(endpoint.requests.count - before <= 3)
        #expect(endpoint.count("events") == 1)
        #expect(feed.streamCount == 1)
    }

    @Test("Changes between two calls are not missed")
    func between() async throws {
        let cursor = try await position()
        let reader = Task { try await feed.changes(waiting(after: cursor)) }
        await clock.waitForSleepers(2)
        for number in 0..<5 { try await store.setDocument("a/\(number)", ["n": 1]) }
        var page = try await reader.value
        var paths = page.changes.map(\.path.id)
        while paths.count < 5 {
            page = try await feed.changes(waiting(after: page.next))
            paths += page.changes.map(\.path.id)
        }
        #expect(paths == ["0", "1", "2", "3", "4"])
        #expect(endpoint.count("events") == 1)
    }

    @Test("A wait without changes ends at its limit with a position to continue from")
    func nothing() async throws {
        let cursor = try await position()
        let reader = Task {
            try await feed.changes(waiting(after: cursor, .collections(["a"]), for: .seconds(4)))
        }
        await clock.waitForSleepers(2)
        try await store.setDocument("b/1", ["n": 1])
        await clock.advance(by: .seconds(4))
        let page = try await reader.value
        #expect(page.changes.isEmpty)
        #expect(page.isCaughtUp)
        #expect(clock.elapsed == .seconds(4))
    }

    @Test("Canceling a call ends it immediately and keeps the stream for the next")
    func cancelled() async throws {
        let cursor = try await position()
        let reader = Task { try await feed.changes(waiting(after: cursor)) }
        await clock.waitForSleepers(2)
        reader.cancel()
        await expectError(StorageError.self, .cancelled) { try await reader.value }
        let next = Task { try await feed.changes(waiting(after: cursor)) }
        await clock.waitForSleepers(2)
        try await store.setDocument("a/1", ["n": 1])
        #expect(try await next.value.changes.map(\.path) == ["a/1"])
        #expect(endpoint.count("events") == 1)
    }

    @Test("Readers of one position share a stream")
    func shared() async throws {
        let cursor = try await position()
        try await withThrowingTaskGroup(of: [DocumentPath].self) { group in
            for _ in 0..<20 {
                group.addTask { try await feed.changes(waiting(after: cursor)).changes.map(\.path) }
            }
            // The sleepers are the time limits and the server's heartbeat.
            await clock.waitForSleepers(2)
            try await store.setDocument("a/1", ["n": 1])
            for try await paths in group { #expect(paths == ["a/1"]) }
        }
        #expect(endpoint.count("events") == 1)
    }

    @Test("The number of streams is limited, and the least recently used one is closed")
    func bounded() async throws {
        let cursor = try await position()
        for number in 0..<12 {
            let scope = ChangeScope.collections([CollectionPath("c\(number)")])
            let reader = Task { try await feed.changes(waiting(after: cursor, scope)) }
            // A change before the stream is requested would be in the page before it.
            try await waitUntil { endpoint.count("events") == number + 1 }
            try await store.setDocument("c\(number)/1", ["n": 1])
            #expect(try await reader.value.changes.count == 1)
            // The stream does not contain this change, so the next reader cannot continue on it.
            try await store.setDocument("others/\(number)", ["n": 1])
        }
        #expect(feed.streamCount == 4)
    }

    @Test("A reader with a new scope leaves no stream of the old one")
    func changesScope() async throws {
        var request = waiting(after: try await position(), ChangeScope())
        for number in 0..<5 {
            request.scope.formUnion(.documents([DocumentPath("a/\(number)")]))
            let reader = Task { [request] in try await feed.changes(request) }
            // A change before the stream is requested would be in the page before it.
            try await waitUntil { endpoint.count("events") == number + 1 }
            try await store.setDocument("a/\(number)", ["n": 1])
            let page = try await reader.value
            #expect(page.changes.map(\.path) == ["a/\(number)"])
            request.after = page.next
        }
        #expect(feed.streamCount == 1)
    }

    @Test("An unused stream is closed", .timeLimit(.minutes(10)))
    func unused() async throws {
        let cursor = try await position()
        let reader = Task { try await feed.changes(waiting(after: cursor)) }
        await clock.waitForSleepers(2)
        try await store.setDocument("a/1", ["n": 1])
        _ = try await reader.value
        #expect(endpoint.service.listenerCount == 1)
        // The stream's own task checks the limit, at an unpredictable time.
        while endpoint.service.listenerCount > 0, !Task.isCancelled {
            await clock.advance(by: .seconds(5))
        }
        #expect(endpoint.service.listenerCount == 0)
        // The stream's own task has to notice the end.
        try await waitUntil { feed.streamCount == 0 }
        #expect(feed.streamCount == 0)
    }

    @Test("A reader that waits does not get what arrives for a user who has signed out")
    func changesUser() async throws {
        let user = Mutex("ann")
        let feed = SyncFeed(
            transport: endpoint,
            configuration: .test(on: clock),
            identity: { user.withLock { $0 } }
        )
        let start = try await feed.changes(ChangeRequest()).next
        let reader = Task { try await feed.changes(waiting(after: start)) }
        await clock.waitForSleepers(2)
        user.withLock { $0 = "ben" }
        try await store.setDocument("a/1", ["n": 1])
        await expectError(StorageError.self, .cursorExpired) { try await reader.value }
        #expect(feed.streamCount == 0)
        // Another reader continues where the former user was.
        await expectError(StorageError.self, .cursorExpired) {
            try await feed.changes(ChangeRequest(after: start))
        }
        // A position from its bytes names no user.
        let stored = ChangeCursor(bytes: start.bytes)
        #expect(stored == start)
        let next = try await feed.changes(ChangeRequest(after: stored))
        #expect(next.changes.map(\.path) == ["a/1"])
    }

    @Test("A position of the former user is not continued for another one")
    func changesUserBetweenCalls() async throws {
        let user = Mutex<String?>("ann")
        let feed = SyncFeed(
            transport: endpoint,
            configuration: .test(on: clock),
            identity: { user.withLock { $0 } }
        )
        let start = try await feed.changes(ChangeRequest()).next
        // Nobody is signed in for a while.
        user.withLock { $0 = nil }
        let next = try await feed.changes(ChangeRequest(after: start)).next
        user.withLock { $0 = "ben" }
        await expectError(StorageError.self, .cursorExpired) {
            try await feed.changes(ChangeRequest(after: next))
        }
        #expect(try await feed.changes(ChangeRequest()).isCaughtUp)
    }

    @Test("Closing the feed ends its streams, and pages still work")
    func closed() async throws {
        let cursor = try await position()
        let reader = Task { try await feed.changes(waiting(after: cursor)) }
        await clock.waitForSleepers(2)
        feed.close()
        try await store.setDocument("a/1", ["n": 1])
        #expect(try await reader.value.changes.map(\.path) == ["a/1"])
        #expect(feed.streamCount == 0)
    }
}
