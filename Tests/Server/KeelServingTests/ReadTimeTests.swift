import Foundation
import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelStorageSQLite
import Synchronization
import Testing

@Suite("Read times under a wrong clock")
struct ReadTimeTests {
    private final class WallClock: Sendable {
        private let time = Mutex<Int64>(1_780_000_000_000_000)
        var now: Timestamp { Timestamp(microseconds: time.withLock { $0 }) }
        func move(by seconds: Int64) { time.withLock { $0 += seconds * 1_000_000 } }
    }

    private static let year: Int64 = 365 * 86_400
    private let wall = WallClock()

    @Test(
        "Read times of an in-memory store never decrease",
        arguments: [Duration.seconds(3600), nil]
    )
    func inMemory(history: Duration?) async throws {
        let now: @Sendable () -> Timestamp = { [wall] in wall.now }
        try await walk(Served(InMemoryStorageAdapter(history: history, now: now)) { $0.now = now })
    }

    #if SQLite
    @Test("Read times of a file store never decrease", arguments: [Duration.seconds(3600), nil])
    func inFile(history: Duration?) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let now: @Sendable () -> Timestamp = { [wall] in wall.now }
        var configuration = SQLiteStorageAdapter.Configuration()
        (configuration.history, configuration.now) = (history, now)
        let store = try SQLiteStorageAdapter(
            at: .file(folder.appending(path: "store.sqlite")),
            configuration: configuration
        )
        try await walk(Served(store) { $0.now = now })
        try store.close()
    }
    #endif

    /// Sends all requests with a time in the reply, while the clock shows other years.
    private func walk(_ served: Served) async throws {
        let query = #"{"structuredQuery":{"from":[{"collectionId":"a"}]}}"#
        let count = #"""
            {"structuredAggregationQuery":{"aggregations":[{"count":{},"alias":"c"}],
            "structuredQuery":{"from":[{"collectionId":"a"}]}}}
            """#
        let names = #"{"documents":["\#(Served.name("a/1"))","\#(Served.name("a/none"))"]}"#
        var times: [Timestamp] = []
        let leaps: [Int64] = [0, 14, -14, -56, 56, 14, -14]
        for (number, leap) in leaps.enumerated() {
            wall.move(by: leap * Self.year + 60)
            for n in 0..<2 {
                let written = try await served.commit("a/\(number)", n: n)
                times += try [time(written.json["commitTime"])]
                for (method, body) in [
                    (":runQuery", query), (":batchGet", names), (":runAggregationQuery", count),
                ] {
                    let answer = try await served.send(.post, method, body)
                    let elements = try #require(answer.json.elements)
                    #expect(!elements.isEmpty)
                    times += try elements.map { try time($0["readTime"]) }
                }
            }
        }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
        let new = try await served.set("a/new", n: 1)
        #expect(try time(new.json["updateTime"]) == wall.now)
        // The times of a document written in the wrong year continue from there.
        let ahead = try await served.set("a/1", n: 7)
        let updated = try time(ahead.json["updateTime"])
        #expect(updated.microseconds > wall.now.microseconds + 13 * Self.year * 1_000_000)
    }

    private func time(_ json: FirestoreJSON?) throws -> Timestamp {
        try #require(json?.text.flatMap(FirestoreTime.time))
    }
}
