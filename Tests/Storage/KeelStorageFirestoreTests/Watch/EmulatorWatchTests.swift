#if os(Linux) || os(macOS)
import Foundation
import KeelCore
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

/// Listening to Google’s emulator, which this machine may not have.
@Suite(
    "Listening to Google\u{2019}s emulator",
    .enabled(if: FirestoreEmulator.isInstalled, "\(FirestoreEmulator.absence)"),
    .timeLimit(.minutes(5)),
    EmulatorScope()
)
struct EmulatorWatchTests {
    private let transport: CutTransport
    private let configuration: FirestoreStorageAdapter.Configuration
    /// A client that listens.
    private let storage: StorageClient
    /// A client that writes, over another transport.
    private let writer: StorageClient

    init() throws {
        transport = CutTransport(try EmulatorScope.transport)
        configuration = try EmulatorScope.configuration()
        storage = StorageClient(FirestoreStorageAdapter(configuration, transport: transport))
        writer = StorageClient(
            FirestoreStorageAdapter(configuration, transport: try EmulatorScope.transport)
        )
    }

    private let notes = DocumentQuery("notes").order(by: "n")

    /// Takes snapshots until one has these numbers.
    private func follow(
        _ snapshots: inout QuerySnapshots.Iterator,
        until numbers: [Int64]
    ) async throws {
        while true {
            let snapshot = try #require(try await snapshots.next())
            if snapshot.documents.compactMap({ $0["n"]?.integerValue }) == numbers { return }
        }
    }

    private static func isPrompt(_ delay: Duration) -> Bool { delay < .milliseconds(50) }

    @Test("A listener receives the commits of another client within 50 milliseconds")
    func isFast() async throws {
        var snapshots = storage.listen(to: notes).makeAsyncIterator()
        try await follow(&snapshots, until: [])
        let clock = ContinuousClock()
        var delays: [Duration] = []
        // A listener that pauses does so each time, and a busy machine is fast once.
        while delays.count < 20 || delays.count < 500 && !delays.contains(where: Self.isPrompt) {
            let number = Int64(delays.count)
            try await writer.setDocument("notes/a", ["n": .integer(number)])
            let committed = clock.now
            try await follow(&snapshots, until: [number])
            delays.append(clock.now - committed)
        }
        #expect(delays.contains(where: Self.isPrompt))
        delays.sort()
        let (middle, last) = (delays[delays.count / 2], delays[delays.count - 1])
        print("a listener of Google\u{2019}s emulator is told after \(middle), at most \(last)")
        #expect(transport.count(of: ":runQuery") == 0)
    }

    @Test("Without changes, a listener requests nothing")
    func isIdle() async throws {
        try await writer.setDocument("notes/a", ["n": 1])
        var snapshots = storage.listen(to: notes).makeAsyncIterator()
        var document = storage.listenToDocument("notes/a").makeAsyncIterator()
        try await follow(&snapshots, until: [1])
        #expect(try await document.next()?.document?["n"] == 1)
        let before = transport.requests.count
        async let next: Void = follow(&snapshots, until: [1, 2])
        // Writes elsewhere cost it nothing.
        for number in 0..<10 { try await writer.setDocument("others/\(number)", ["n": 1]) }
        try await writer.setDocument("notes/b", ["n": 2])
        try await next
        #expect(transport.requests.count == before)
    }

    @Test("Listeners of one query share a target, and one channel")
    func shares() async throws {
        // Before the listeners: of a commit during the first request for a target, the emulator may send nothing.
        try await writer.setDocument("notes/a", ["n": 1])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    var snapshots = storage.listen(to: notes).makeAsyncIterator()
                    try await follow(&snapshots, until: [1])
                }
            }
            try await group.waitForAll()
        }
        #expect(transport.count(of: "addTarget") == 1)
        #expect(transport.count(of: "TYPE=xmlhttp") == 1)
    }

    @Test("A listener misses nothing while its connection is cut again and again")
    func survivesCuts() async throws {
        var snapshots = storage.listen(to: notes.limit(to: 3)).makeAsyncIterator()
        try await follow(&snapshots, until: [])
        for number in Int64(0)..<5 {
            transport.cut()
            try await writer.setDocument("notes/\(number)", ["n": .integer(-number)])
            // Only now: of a commit during the request for a target, the emulator may send nothing.
            transport.restore()
            let all = (0...number).map { -$0 }.sorted()
            try await follow(&snapshots, until: Array(all.prefix(3)))
        }
    }

    @Test("A listener continues after the network was away, with what left its result meanwhile")
    func survivesAbsence() async throws {
        try await writer.setDocument("notes/a", ["n": 1])
        try await writer.setDocument("notes/b", ["n": 2])
        var snapshots = storage.listen(to: notes).makeAsyncIterator()
        var document = storage.listenToDocument("notes/a").makeAsyncIterator()
        try await follow(&snapshots, until: [1, 2])
        #expect(try await document.next()?.document?["n"] == 1)
        transport.cut()
        try await writer.deleteDocument("notes/a")
        try await writer.setDocument("notes/c", ["n": 3])
        transport.restore()
        try await follow(&snapshots, until: [2, 3])
        #expect(try await document.next()?.exists == false)
    }

    @Test("A cursor continues in another process, or says that it cannot")
    func continuesAfterRestart() async throws {
        for id in ["a", "b"] { try await writer.setDocument("notes/\(id)", ["n": 1]) }
        let first = try await storage.adapter.changes(ChangeRequest(followingResultOf: notes))
        #expect(first.changes.count == 2)
        try await writer.deleteDocument("notes/a")
        try await writer.setDocument("notes/c", ["n": 2])
        // The emulator does not continue from tokens; Google’s service does.
        let restarted = FirestoreStorageAdapter(
            configuration,
            transport: try EmulatorScope.transport
        )
        await expect(.cursorExpired) {
            _ = try await restarted.changes(
                ChangeRequest(
                    after: first.next,
                    followingResultOf: notes,
                    waitTimeout: .seconds(60)
                )
            )
        }
        let whole = try await restarted.changes(ChangeRequest(followingResultOf: notes))
        #expect(whole.changes.map(\.path) == ["notes/b", "notes/c"])
    }

    @Test("A query that the server refuses ends its listener, and no other")
    func refused() async throws {
        let other = DocumentQuery("others")
        var listening = storage.listen(to: other).makeAsyncIterator()
        _ = try await listening.next()
        // The emulator takes one range over everything only by name.
        let query = DocumentQuery.everything(under: nil).order(by: "n", .descending)
        var refused = storage.listen(to: query).makeAsyncIterator()
        await #expect(throws: StorageError.self) { _ = try await refused.next() }
        try await writer.setDocument("others/a", ["n": 1])
        #expect(try await listening.next()?.documents.count == 1)
    }

    @Test("A target that nobody asks for is removed, and the channel closed with the last one")
    func isRemoved() async throws {
        let host = String(configuration.server.absoluteString.dropFirst("http://".count))
        let channel = WebChannel.Configuration(
            scheme: "http",
            authority: host,
            database: "projects/\(configuration.project)/databases/(default)"
        )
        var settings = WatchConnection.Configuration(channel: channel)
        settings.grace = .milliseconds(100)
        let connection = WatchConnection(
            settings,
            transport: transport,
            tokens: StaticToken("owner")
        )
        let feed = WatchFeed(connection)
        _ = try await feed.changes(ChangeRequest(followingResultOf: notes))
        try await waitUntil { transport.count(of: "TYPE=terminate") == 1 }
        #expect(await feed.targetCount == 0)
        // The next reader opens another channel.
        let page = try await feed.changes(ChangeRequest(scope: .documents(["notes/a"])))
        #expect(page.changes.isEmpty)
        #expect(transport.count(of: "CVER=22") == 2)
    }
}
#endif
