import Foundation
import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import Synchronization
import Testing

@Suite("Client limits of a server", .timeLimit(.minutes(10)))
struct ClientLimitTests {
    /// Answers with the path; under `/hang` only once canceled.
    private final class Handler: ServingHandler {
        let reached = AsyncStream.makeStream(of: String.self)
        let cancelled = AsyncStream.makeStream(of: Void.self)
        private let paths = Mutex<[String]>([])

        var seen: [String] { paths.withLock { $0 } }

        func respond(to call: HTTPCall) async -> HTTPReply {
            let path = call.head.path ?? ""
            paths.withLock { $0.append(path) }
            reached.continuation.yield(path)
            if path == "/hang" {
                let (never, keeper) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
                keeper.finish()
                cancelled.continuation.yield()
            }
            return .text(.ok, "answer to \(path)\n")
        }
    }

    private static func get(_ path: String) -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"
    }

    @Test("A client that disconnects ends the work on its response", arguments: [true, false])
    func leaving(closesOnlyItsSide: Bool) async throws {
        let handler = Handler()
        try await RunningServer.with(handler) { port in
            try await RawClient.connected(to: port) { client in
                try await client.send(Self.get("/hang"))
                _ = await handler.reached.stream.first { _ in true }
                guard closesOnlyItsSide else { return }
                client.finish()
                _ = await client.readToEnd()
            }
            let start = ContinuousClock.now
            // This never happens if the handler is not canceled.
            _ = await handler.cancelled.stream.first { _ in true }
            print("The answer was ended within \(start.duration(to: .now)) of its client’s going")
        }
    }

    @Test("A client that closes its side after a request is answered")
    func halfClosed() async throws {
        try await RunningServer.with(Handler()) { port in
            for _ in 0..<100 {
                let text = try await RawClient.connected(to: port) { client in
                    try await client.send(Self.get("/x"))
                    client.finish()
                    return await client.readToEnd()
                }
                #expect(text.hasSuffix("answer to /x\n") || text.contains("answer to /x\n"))
            }
        }
    }

    @Test("Connections beyond the limit wait until one ends")
    func connections() async throws {
        let handler = Handler()
        try await RunningServer.with(handler, mostConnections: 2) { port in
            try await RawClient.connected(to: port) { first in
                try await first.send(Self.get("/1"))
                #expect(try await first.read(until: "/1\n"))
                try await RawClient.connected(to: port) { second in
                    try await second.send(Self.get("/2"))
                    #expect(try await second.read(until: "/2\n"))
                    try await RawClient.connected(to: port) { third in
                        try await third.send(Self.get("/3"))
                        try await first.send(Self.get("/4"))
                        #expect(try await first.read(until: "/4\n"))
                        #expect(!handler.seen.contains("/3"))
                        second.finish()
                        #expect(try await third.read(until: "/3\n"))
                    }
                }
            }
        }
    }

    /// Releases a number of tasks together; a failed task does not block the others.
    private actor Meeting {
        private var missing: Int
        /// The number of tasks for which the others have not waited.
        private(set) var lateCount = 0
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(_ count: Int) { missing = count }

        func arrive() async {
            missing -= 1
            guard missing > 0 else { return open() }
            await withCheckedContinuation { waiting.append($0) }
        }

        func giveUp() {
            lateCount = max(lateCount, missing)
            missing = 0
            open()
        }

        private func open() {
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    @Test("Five thousand concurrent connections are all answered")
    func crowd() async throws {
        var limit = rlimit()
        #if canImport(Glibc)
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let files = RLIMIT_NOFILE
        #endif
        try #require(getrlimit(files, &limit) == 0)
        // Both ends of each connection are in this process.
        let count = min(5_000, max(100, (Int(clamping: limit.rlim_cur) - 500) / 2))
        let meeting = Meeting(count)
        // The server closes a connection that waits for a minute. A slow machine may need as long for all of them.
        let patience = Task {
            try await Task.sleep(for: .seconds(30))
            await meeting.giveUp()
        }
        defer { patience.cancel() }
        try await RunningServer.with(StorageServer(adapter: InMemoryStorageAdapter())) { port in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        do {
                            return try await RawClient.connected(to: port) { client in
                                var isGood = true
                                for _ in 0..<2 {
                                    try await client.send(Self.get("/health"))
                                    isGood = try await client.read(until: "ok\"}") && isGood
                                    client.forget()
                                    await meeting.arrive()
                                }
                                return isGood
                            }
                        } catch {
                            await meeting.giveUp()
                            throw error
                        }
                    }
                }
                var answered = 0
                for try await isGood in group where isGood { answered += 1 }
                #expect(answered == count)
            }
        }
        let lateCount = await meeting.lateCount
        print("\(count - lateCount) of \(count) connections were open at a time")
    }
}
