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

@Suite("Feeds without a working stream", .timeLimit(.minutes(5)))
struct SyncFeedFaultTests {
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

    private func request(after cursor: ChangeCursor?) -> ChangeRequest {
        ChangeRequest(after: cursor, waitTimeout: .seconds(30))
    }

    @Test("A server without streams is asked for waiting pages", arguments: [404, 406, 429, 501])
    func polls(status: Int) async throws {
        endpoint.refuseStreams(with: status)
        let start = try await feed.changes(ChangeRequest())
        let reader = Task { try await feed.changes(request(after: start.next)) }
        // The requests are the first page, an empty page, the stream, another page, and a waiting page.
        await endpoint.waitForRequests(5)
        try await store.setDocument("a/1", ["n": 1])
        #expect(try await reader.value.changes.map(\.path) == ["a/1"])
        #expect(endpoint.requests.last?.contains("wait=") == true)
        #expect(endpoint.count("events") == 1)
    }

    @Test("An interrupted stream is reopened without missed or repeated changes")
    func breaks() async throws {
        var cursor = try await feed.changes(ChangeRequest()).next
        var told: [String] = []
        let clock = clock
        let time = Task { while !Task.isCancelled { await clock.advance(by: .milliseconds(200)) } }
        defer { time.cancel() }
        for number in 0..<30 {
            let reader = try await streamingReader(after: cursor)
            if number % 5 == 4 { endpoint.breakStreams() }
            try await store.setDocument("a/\(number)", ["n": 1])
            var page = try await reader.value
            while page.changes.isEmpty { page = try await feed.changes(request(after: page.next)) }
            told += page.changes.map(\.path.id)
            cursor = page.next
        }
        #expect(told == (0..<30).map { "\($0)" })
        // One stream at the start, and one after each break except the last.
        #expect(endpoint.count("events") >= 6)
    }

    /// Returns a reader that waits while a stream is open.
    private func streamingReader(
        after cursor: ChangeCursor
    ) async throws -> Task<ChangePage, any Error> {
        let request = request(after: cursor)
        while true {
            let isOver = Mutex(false)
            let reader = Task {
                defer { isOver.withLock { $0 = true } }
                return try await feed.changes(request)
            }
            try await waitUntil { feed.streamCount > 0 || isOver.withLock { $0 } }
            if feed.streamCount > 0 { return reader }
            // The reader's wait ended before the delay after a break; the next reader waits for the rest.
            #expect(try await reader.value.changes.isEmpty)
        }
    }

    @Test("An expired position is reported with and without a stream")
    func expired() async throws {
        let foreign = ChangeCursor(bytes: [7])
        for wait in [Duration?.none, .seconds(30)] {
            await expectError(StorageError.self, .cursorExpired) {
                try await feed.changes(ChangeRequest(after: foreign, waitTimeout: wait))
            }
        }
    }

    @Test("A new epoch expires the positions of all readers")
    func epoch() async throws {
        let pages = ["x", "y", "y"].map { epoch in
            let body = #"{"epoch":"\#(epoch)","changes":[],"next":"AQ","complete":true}"#
            return ScriptedHTTPTransport.Answer.status(.ok, body: Array(body.utf8))
        }
        let transport = ScriptedHTTPTransport(pages)
        let feed = SyncFeed(transport: transport, configuration: .test(on: clock))
        let start = try await feed.changes(ChangeRequest()).next
        // The second reader has not seen the reply that told the first one.
        for _ in 0..<2 {
            await expectError(StorageError.self, .cursorExpired) {
                try await feed.changes(ChangeRequest(after: start))
            }
        }
        #expect(try await feed.changes(ChangeRequest()).isCaughtUp)
    }

    @Test(
        "Server and network errors are mapped to error codes",
        arguments: [
            (ScriptedHTTPTransport.Answer.status(.unauthorized), StorageError.Code.unauthenticated),
            (.status(.forbidden), .permissionDenied), (.status(.notFound), .unsupported),
            (.status(.serviceUnavailable), .unavailable), (.status(.gone), .cursorExpired),
            (.status(.ok, body: Array("<html>".utf8)), .invalidReply),
            (.status(.ok, body: Array("{}".utf8)), .invalidReply),
            (.failure(TransportError(.connectionRefused)), .unavailable),
            (.failure(TransportError(.responseTimeout)), .timeout),
            (.failure(TransportError(.tlsUntrusted)), .unknown),
        ]
    )
    func codes(answer: ScriptedHTTPTransport.Answer, code: StorageError.Code) async throws {
        let feed = SyncFeed(
            transport: ScriptedHTTPTransport([answer]),
            configuration: .test(on: clock)
        )
        await expectError(StorageError.self, code) { try await feed.changes(ChangeRequest()) }
    }

    @Test("Each request contains the adapter's fields and database")
    func fields() async throws {
        let feed = SyncFeed(transport: endpoint, configuration: .test(on: clock)) {
            [.authorization: "Bearer t"]
        }
        let scope = ChangeScope.collections(["a b", "é/1/c"])
        _ = try await feed.changes(ChangeRequest(scope: scope, limit: 7))
        let head = try #require(endpoint.heads.last)
        #expect(head.headerFields[.authorization] == "Bearer t")
        #expect(
            head.path == "/sync/all/changes?database=projects%2Fkeel%2Fdatabases%2F%28default%29"
                + "&collection=a%20b&collection=%C3%A9%2F1%2Fc&limit=7"
        )
    }

    @Test("More collections than a request may contain are filtered from everything")
    func wide() async throws {
        let wanted = Set((0..<150).map { CollectionPath("c\($0)") })
        try await store.setDocument("c7/1", ["n": 1])
        try await store.setDocument("other/1", ["n": 1])
        let scope = ChangeScope.collections(wanted)
        let page = try await feed.changes(ChangeRequest(scope: scope))
        #expect(page.changes.map(\.path) == ["c7/1"])
        let reader = Task {
            try await feed.changes(
                ChangeRequest(after: page.next, scope: scope, waitTimeout: .seconds(30))
            )
        }
        await clock.waitForSleepers(2)
        try await store.setDocument("other/2", ["n": 1])
        try await store.setDocument("c8/1", ["n": 1])
        #expect(try await reader.value.changes.map(\.path) == ["c8/1"])
    }
}
