#if SQLite
import GRDB
import KeelStorage
import KeelStorageSQLite
import KeelTestSupport
import Testing

@Suite("History of a file")
struct HistoryTests {
    private func adapter(
        _ folder: TemporaryFolder,
        history: Duration?,
        _ time: WallClock? = nil
    ) throws -> SQLiteStorageAdapter {
        try folder.adapter { configuration in
            configuration.history = history
            if let time { configuration.now = { time.now } }
        }
    }

    private func images(_ adapter: SQLiteStorageAdapter) throws -> Int {
        try adapter.databasePool.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM history") ?? 0
        }
    }

    private func version(_ adapter: SQLiteStorageAdapter) throws -> Int {
        try adapter.databasePool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
    }

    @Test("A file keeps no history by default")
    func offByDefault() async throws {
        let folder = try TemporaryFolder()
        let adapter = try adapter(folder, history: nil)
        #expect(!adapter.capabilities.contains(.pointInTimeReads))
        #expect(try version(adapter) == 5)
        let store = StorageClient(adapter)
        let time = try await store.setDocument("a/b", ["n": 1]).commitTime
        #expect(throws: StorageError.self) { try store.asOf(time) }
    }

    @Test("History starts when it is enabled")
    func beginsLater() async throws {
        let folder = try TemporaryFolder()
        let first = try adapter(folder, history: nil)
        let early = try await StorageClient(first).setDocument("a/b", ["n": 1]).commitTime
        let last = try await StorageClient(first).setDocument("a/b", ["n": 2]).commitTime
        try first.close()
        let second = try adapter(folder, history: .seconds(60))
        #expect(try version(second) == 6)
        let store = StorageClient(second)
        try await store.setDocument("a/b", ["n": 3])
        #expect(try await store.asOf(last).getDocument("a/b").fields() == ["n": 2])
        let lost = try store.asOf(early)
        await expectError(StorageError.self, .snapshotTooOld) { try await lost.findDocument("a/b") }
        try second.close()
    }

    @Test("Adapters not configured for history keep it, even if opened before")
    func concernsAllWriters() async throws {
        let folder = try TemporaryFolder()
        let before = try adapter(folder, history: nil)
        try await StorageClient(before).setDocument("a/b", ["n": 1])
        let keeping = try adapter(folder, history: .seconds(60))
        let time = try await StorageClient(keeping).currentTime()
        try await StorageClient(before).setDocument("a/b", ["n": 2])
        let after = try adapter(folder, history: nil)
        #expect(after.capabilities.contains(.pointInTimeReads))
        try await StorageClient(after).deleteDocument("a/b")
        #expect(try images(keeping) == 2)
        for adapter in [keeping, after] {
            let then = try StorageClient(adapter).asOf(time)
            #expect(try await then.getDocument("a/b").fields() == ["n": 1])
        }
        #expect(try await keeping.checkIntegrity().isSound)
        for adapter in [before, keeping, after] { try adapter.close() }
        let reopened = try adapter(folder, history: nil)
        #expect(try version(reopened) == 6)
        #expect(try await StorageClient(reopened).asOf(time).getDocument("a/b").id == "b")
        try reopened.close()
    }

    @Test("Only states older than the configured age are removed")
    func forgets() async throws {
        let folder = try TemporaryFolder()
        let time = WallClock()
        let adapter = try adapter(folder, history: .seconds(160), time)
        let store = StorageClient(adapter)
        var commits: [Timestamp] = []
        for number in 0..<40 {
            let receipt = try await store.setDocument("a/b", ["n": .integer(Int64(number))])
            commits.append(receipt.commitTime)
            // At least as long as configured, and at most a sixteenth longer.
            #expect(try images(adapter) <= 18)
            for (value, commit) in commits.enumerated().suffix(17) {
                let then = try await store.asOf(commit).getDocument("a/b")
                #expect(try then.fields() == ["n": .integer(Int64(value))])
            }
            time.move(by: .seconds(10))
        }
        let lost = try store.asOf(commits[10])
        await expectError(StorageError.self, .snapshotTooOld) { try await lost.getDocument("a/b") }
        // Nothing has changed since the last commit, no matter how long ago.
        for _ in 0..<5 {
            time.move(by: .seconds(100_000))
            try await adapter.compact()
        }
        #expect(try images(adapter) == 0)
        let last = try #require(commits.last)
        #expect(try await store.asOf(last).getDocument("a/b").fields() == ["n": 39])
        try adapter.close()
    }

    @Test("History is removed when it is disabled")
    func ends() async throws {
        let folder = try TemporaryFolder()
        let keeping = try adapter(folder, history: .seconds(60))
        let time = try await StorageClient(keeping).setDocument("a/b", ["n": 1]).commitTime
        let ending = try adapter(folder, history: .zero)
        #expect(!ending.capabilities.contains(.pointInTimeReads))
        #expect(try version(ending) == 5)
        // The open adapter notices it in its next call.
        try await StorageClient(keeping).setDocument("a/b", ["n": 2])
        let then = try StorageClient(keeping).asOf(time)
        await expectError(StorageError.self, .unsupported) { try await then.getDocument("a/b") }
        try keeping.close()
        try ending.close()
    }

    @Test("A backup contains the history, which is readable in read-only mode")
    func backup() async throws {
        let folder = try TemporaryFolder()
        let original = try adapter(folder, history: .seconds(60))
        let time = try await StorageClient(original).setDocument("a/b", ["n": 1]).commitTime
        try await StorageClient(original).deleteDocument("a/b")
        try await original.backup(to: folder.file("copy.sqlite"))
        try original.close()
        let copy = try folder.adapter("copy.sqlite") { $0.isReadOnly = true }
        #expect(try version(copy) == 6)
        #expect(try await StorageClient(copy).asOf(time).getDocument("a/b").id == "b")
        #expect(try await copy.checkIntegrity().isSound)
        try copy.close()
    }

    @Test("Large amounts of history are removed in steps, some on opening")
    func forgetsInSteps() async throws {
        let folder = try TemporaryFolder()
        let time = WallClock()
        let first = try adapter(folder, history: .seconds(100), time)
        let store = StorageClient(first)
        for _ in 0..<7 {
            let writes = try (0..<400).map { number in
                try DocumentWrite.set(["n": .integer(Int64(number))], at: "a/\(number)")
            }
            try await store.commit(writes)
            _ = try await store.commit(writes.map { DocumentWrite($0.path, .delete) })
        }
        let last = try await store.currentTime()
        var second = first
        for _ in 0..<5 {
            #expect(try images(second) == 5_600)
            try second.close()
            // However long the file was closed, an opening counts at most a quarter of the age.
            time.move(by: .seconds(1_000))
            second = try adapter(folder, history: nil, time)
        }
        var left = try images(second)
        #expect(left == 5_600 - 1_000)
        while left > 10 {
            try await StorageClient(second).setDocument("c/d", ["n": .integer(Int64(left))])
            let now = try images(second)
            try #require(now < left)
            left = now
            #expect(try await StorageClient(second).asOf(last).count(DocumentQuery("a")) == 0)
            #expect(try await second.checkIntegrity().isSound)
        }
        try second.close()
    }

    @Test("The past of a group of many collections is read with one statement")
    func groupOfMany() async throws {
        let folder = try TemporaryFolder()
        let adapter = try adapter(folder, history: .seconds(600))
        for number in 0..<50 { try await adapter.set("users/\(number)/a/1", ["n": 1]) }
        let time = try await adapter.set("b/1", ["n": 1]).commitTime
        for number in 0..<25 { try await adapter.set("users/\(number)/a/1", ["n": 2]) }
        try await adapter.set("b/1", ["n": 2])
        let past = try StorageClient(adapter).asOf(time)
        #expect(try await past.count(DocumentQuery(group: "a").where(.equal("n", 1))) == 50)
        #expect(try adapter.runs(ofStatementsWith: "min(time)") == 1)
        #expect(try await past.count(DocumentQuery(group: "a", under: "users/7")) == 1)
        try adapter.close()
    }

    @Test("A limited query of the past returns the same result after many changes")
    func manyChanges() async throws {
        let folder = try TemporaryFolder()
        let adapter = try adapter(folder, history: .seconds(60))
        let store = StorageClient(adapter)
        let order = Array(0..<3_000).shuffled()
        for start in stride(from: 0, to: order.count, by: 500) {
            let writes = try order[start..<start + 500].map { number in
                try DocumentWrite.set(["n": .integer(Int64(number))], at: "a/\(number)")
            }
            try await store.commit(writes)
        }
        let time = try await store.currentTime()
        for start in stride(from: 0, to: order.count, by: 500) {
            try await store.commit(
                order[start..<start + 500].map { DocumentWrite("a/\($0)", .delete) }
            )
        }
        let then = try store.asOf(time)
        let query = DocumentQuery("a").order(by: "n")
        for (found, wanted) in [
            (query.limit(to: 3), 0..<3), (query.offset(10).limit(to: 2), 10..<12),
            (query.limit(toLast: 2), 2_998..<3_000),
        ] {
            let numbers = try await then.queryDocuments(found).map { $0["n"]?.integerValue }
            #expect(numbers == wanted.map(Int64.init))
        }
        #expect(try await then.count(query) == 3_000)
        #expect(try await store.count(query) == 0)
        try adapter.close()
    }

    @Test("The age of the history changes on the next opening")
    func changesAge() async throws {
        let folder = try TemporaryFolder()
        let time = WallClock()
        let long = try adapter(folder, history: .seconds(1_000), time)
        let first = try await StorageClient(long).setDocument("a/b", ["n": 1]).commitTime
        time.move(by: .seconds(100))
        try await StorageClient(long).setDocument("a/b", ["n": 2])
        #expect(try await StorageClient(long).asOf(first).getDocument("a/b")["n"] == 1)
        time.move(by: .seconds(100))
        let short = try adapter(folder, history: .seconds(50), time)
        let store = StorageClient(short)
        for _ in 0..<5 {
            time.move(by: .seconds(20))
            try await short.compact()
        }
        #expect(try images(short) == 0)
        await expectError(StorageError.self, .snapshotTooOld) {
            try await store.asOf(first).getDocument("a/b")
        }
        try long.close()
        try short.close()
    }

    @Test("The integrity check detects damaged history")
    func damage() async throws {
        let folder = try TemporaryFolder()
        let adapter = try adapter(folder, history: .seconds(60))
        let store = StorageClient(adapter)
        try await store.setDocument("a/b", ["n": 1])
        try await store.setDocument("a/b", ["n": 2])
        #expect(try await adapter.checkIntegrity().isSound)
        try await adapter.databasePool.write {
            try $0.execute(sql: "UPDATE history SET body = x'ff' WHERE body IS NOT NULL")
        }
        let problems = try await adapter.checkIntegrity().problems
        #expect(problems.contains { $0.hasPrefix("in the history") })
        try adapter.close()
    }
}
#endif
