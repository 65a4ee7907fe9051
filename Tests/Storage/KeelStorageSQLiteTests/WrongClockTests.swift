#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

@Suite("Files under a wrong clock")
struct WrongClockTests {
    private static let day = Duration.seconds(86_400)
    private static let leap = day * 365 * 14

    let folder: TemporaryFolder
    private let wall = WallClock()

    init() throws { folder = try TemporaryFolder() }

    private func adapter(history: Duration? = nil) throws -> SQLiteStorageAdapter {
        try folder.adapter { configuration in
            configuration.history = history
            configuration.now = { [wall] in wall.now }
        }
    }

    @Test("New documents have the correct time once the clock is correct")
    func heals() async throws {
        let adapter = try adapter()
        try await adapter.set("a/old", ["n": 1])
        wall.move(by: Self.leap)
        let wrong = wall.now
        try await adapter.set("a/ahead", ["n": 1])
        wall.move(by: .zero - Self.leap)
        wall.move(by: .seconds(60))
        // A document that is ahead stays ahead, but does not affect others, not even in its batch.
        let stamp = FieldTransform("at", .serverTimestamp)
        let receipt = try await adapter.apply(
            WriteBatch([
                DocumentWrite("a/ahead", .set(DocumentBody(["n": 2]), transforms: [stamp])),
                DocumentWrite("a/old", .set(DocumentBody(["n": 2]), transforms: [stamp])),
                DocumentWrite("a/new", .set(DocumentBody(["n": 2]))),
            ])
        )
        #expect(receipt.commitTime > wrong)
        let times = receipt.outcomes.map(\.updateTime)
        #expect(times[0].map { $0 > wrong } == true)
        #expect(times[1...] == [wall.now, wall.now])
        for id in ["ahead", "old"] {
            let at = try await adapter.document(DocumentPath("a/\(id)"))?["at"]?.timestampValue
            #expect(at == wall.now)
        }
    }

    @Test("A removal under a wrong clock affects only its own document")
    func removals() async throws {
        let first = try adapter()
        for id in ["kept", "gone", "back"] {
            try await first.set(DocumentPath("a/\(id)"), ["n": 1])
        }
        wall.move(by: Self.leap)
        let wrong = wall.now
        try await first.delete("a/gone")
        wall.move(by: .zero - Self.leap)
        wall.move(by: .seconds(60))
        try await first.delete("a/back")
        try first.close()
        let second = try adapter()
        try await second.set("a/gone", ["n": 2])
        let gone = try #require(try await second.document("a/gone"))
        #expect(gone.createTime > wrong)
        wall.move(by: .seconds(60))
        for id in ["back", "new"] {
            try await second.set(DocumentPath("a/\(id)"), ["n": 2])
            #expect(try await second.document(DocumentPath("a/\(id)"))?.createTime == wall.now)
        }
        // The clock is set to before all other times.
        try await second.delete("a/back")
        let removed = wall.now
        wall.move(by: Self.day * -365 * 56)
        try await second.set("a/back", ["n": 3])
        let back = try #require(try await second.document("a/back"))
        #expect(back.createTime > removed)
    }

    @Test("The history is kept despite clock jumps and removed when old")
    func history() async throws {
        let hour = Duration.seconds(3600)
        let adapter = try adapter(history: hour)
        let store = StorageClient(adapter)
        try await store.setDocument("a/b", ["n": 1])
        let time = try await store.currentTime()
        for number in Int64(2)...40 {
            let leap = number.isMultiple(of: 2) ? Self.leap : Self.day * -365 * 56
            wall.move(by: leap)
            for turn in Int64(0)..<3 {
                try await store.setDocument("a/b", ["n": .integer(number), "turn": .integer(turn)])
                wall.move(by: .seconds(10))
            }
            try await adapter.compact()
            #expect(try await store.asOf(time).getDocument("a/b")["n"] == 1)
            wall.move(by: .zero - leap)
            try await store.setDocument("a/b", ["n": .integer(number)])
            #expect(try await store.asOf(time).getDocument("a/b")["n"] == 1)
        }
        // After these twenty minutes, two more hours make everything old.
        for number in Int64(0)..<120 {
            wall.move(by: .seconds(60))
            try await store.setDocument("a/b", ["n": .integer(number)])
        }
        let images = try await adapter.databasePool.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM history") ?? 0
        }
        #expect((60...66).contains(images))
        let error = await storageError { _ = try await store.asOf(time).getDocument("a/b") }
        #expect(error?.code == .snapshotTooOld)
    }

    @Test("Writes without changes keep the store’s time regardless of the clock")
    func unchanged() async throws {
        let adapter = try adapter()
        let first = try await adapter.set("a/b", ["n": 1])
        wall.move(by: Self.leap)
        let same = try await adapter.set("a/b", ["n": 1])
        #expect(same.commitTime == first.commitTime)
        #expect(same.outcomes == first.outcomes)
        wall.move(by: .zero - Self.leap)
        wall.move(by: .seconds(1))
        let next = try await adapter.set("a/b", ["n": 2])
        #expect(next.commitTime == wall.now)
    }

    @Test("Extreme clock values do not stop the store")
    func extremes() async throws {
        let adapter = try adapter(history: .seconds(3600))
        for time in [Int64.max, .min, 0, .max - 1, 1_780_000_000_000_000] {
            wall.set(time)
            for number in Int64(0)..<3 {
                let receipt = try await adapter.set("a/b", ["n": .integer(number)])
                let page = try await adapter.changes(ChangeRequest(after: receipt.position))
                #expect(page.isCaughtUp && page.changes.isEmpty)
            }
            try await adapter.compact()
        }
        #expect(try await adapter.checkIntegrity().isSound)
    }
}
#endif
