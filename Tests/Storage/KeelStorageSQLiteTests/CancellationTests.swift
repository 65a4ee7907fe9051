#if SQLite
import KeelTestSupport
import Foundation
import GRDB
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Synchronization
import Testing

@Suite("Cancellation of SQLite work", .timeLimit(.minutes(5)))
struct CancellationTests {
    /// Cancels the task when it opens the tenth body, like a client that disconnects.
    private final class CancellingSealing: ByteSealing {
        private let inner = FakeByteSealing(key: 1)
        private let opened = Counter()
        let isArmed = Mutex(false)
        /// Whether the bodies that a task opens are counted.
        @TaskLocal static var isCounted = true
        var openedCount: Int { opened.count }

        /// Counts from the next body on.
        func restart() {
            opened.reset()
            isArmed.withLock { $0 = true }
        }

        func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
            try inner.seal(plain, context: context)
        }

        func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8] {
            if Self.isCounted, isArmed.withLock({ $0 }) {
                if opened.next() == 10 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return try inner.open(sealed, context: context)
        }

        func fingerprint(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
            try inner.fingerprint(plain, context: context)
        }
    }

    private static let count = 5_000

    private static func filled(
        _ folder: TemporaryFolder,
        _ sealing: CancellingSealing,
        _ change: (inout SQLiteStorageAdapter.Configuration) -> Void = { _ in }
    ) async throws -> SQLiteStorageAdapter {
        let adapter = try folder.adapter { configuration in
            configuration.sealing = sealing
            configuration.readerCount = 1
            change(&configuration)
        }
        for start in stride(from: 0, to: count, by: 500) {
            let writes = (start..<start + 500).map { number in
                let path: DocumentPath =
                    number.isMultiple(of: 2) ? "a/\(number)" : "x/y/a/\(number)"
                return DocumentWrite(path, .set(DocumentBody(["n": .integer(Int64(number))])))
            }
            try await adapter.apply(WriteBatch(writes))
        }
        return adapter
    }

    /// Work that opens every body unless it is canceled.
    enum Work: CaseIterable {
        case filter, order, window, group, aggregate, grouped, integrity

        func run(on adapter: SQLiteStorageAdapter) async throws {
            let all = DocumentQuery("a")
            switch self {
            case .filter: _ = try await adapter.ids(all.where(.equal("n", -1)))
            case .order: _ = try await adapter.ids(all.order(by: "n"))
            case .window: _ = try await adapter.ids(all.order(by: "n", .descending).limit(to: 3))
            case .group: _ = try await adapter.ids(DocumentQuery(group: "a").where(.equal("n", -1)))
            case .aggregate: _ = try await adapter.values(all, [.sum("n")])
            case .grouped:
                _ = try await adapter.values(
                    DocumentQuery(group: "a").limit(to: 9_999),
                    [.sum("n")]
                )
            case .integrity: _ = try await adapter.checkIntegrity()
            }
        }
    }

    @Test(
        "work ends soon after its task is canceled, and its connection stays usable",
        arguments: Work.allCases
    )
    func ends(_ work: Work) async throws {
        let folder = try TemporaryFolder()
        let sealing = CancellingSealing()
        let adapter = try await Self.filled(folder, sealing)
        sealing.restart()
        let task = Task { await storageError { try await work.run(on: adapter) } }
        #expect(await task.value?.code == .cancelled)
        #expect(sealing.openedCount < 20, "the work went on")
        #expect(try await adapter.ids(DocumentQuery("a").where(.equal("n", 8))) == ["8"])
        #expect(sealing.openedCount > 1_000)
    }

    @Test("a connection serves canceled and uncanceled reads")
    func often() async throws {
        let folder = try TemporaryFolder()
        let adapter = try folder.adapter { $0.readerCount = 1 }
        for start in [0, 500, 1_000] {
            let writes = (start..<start + 500).map { number in
                DocumentWrite("a/\(number)", .set(DocumentBody(["n": .integer(Int64(number))])))
            }
            try await adapter.apply(WriteBatch(writes))
        }
        let query = DocumentQuery("a").where(.equal("n", 7))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let task = Task { try await adapter.ids(query) }
                    if number.isMultiple(of: 3) { task.cancel() }
                    let result = await task.result
                    switch result {
                    case .success(let ids): #expect(ids == ["7"])
                    case .failure(let error): #expect((error as? StorageError)?.code == .cancelled)
                    }
                    if !number.isMultiple(of: 3) { #expect((try? result.get()) != nil) }
                }
            }
        }
        #expect(try await adapter.ids(query) == ["7"])
    }

    @Test("a connection serves reads after thousands of canceled ones")
    func thousands() async throws {
        let folder = try TemporaryFolder()
        let sealing = CancellingSealing()
        let adapter = try folder.adapter {
            $0.readerCount = 1
            $0.sealing = sealing
        }
        try await adapter.setEach(10..<30) { ("a/\($0)", ["n": 1]) }
        let query = DocumentQuery("a").limit(to: 100)
        // SQLite asks whether to go on once the runs of one statement have taken 10,000 steps together.
        for _ in 0..<7_000 {
            sealing.restart()
            let task = Task { await storageError { _ = try await adapter.ids(query) } }
            try #require(await task.value?.code == .cancelled)
        }
        try await adapter.set("a/30", ["n": 1])
        #expect(try await adapter.ids(query).count == 21)
    }

    @Test("a long query ends soon after it is canceled, while others read and commit")
    func endsBesideOthers() async throws {
        let folder = try TemporaryFolder()
        let sealing = CancellingSealing()
        let adapter = try await Self.filled(folder, sealing) { $0.readerCount = 3 }
        let query = DocumentQuery(group: "a").order(by: "n")
        sealing.restart()
        let task = Task { await storageError { _ = try await adapter.ids(query) } }
        async let commit = adapter.set("b/1", ["n": 1])
        async let other = CancellingSealing.$isCounted.withValue(false) {
            try await adapter.document("a/0")
        }
        #expect(await task.value?.code == .cancelled)
        #expect(sealing.openedCount < 20, "the query went on")
        _ = try await commit
        #expect(try await other?["n"] == 0)
    }

    @Test("reads that wait for a connection block no thread, and end with their tasks")
    func waits() async throws {
        let folder = try TemporaryFolder()
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let isHeld = Atomic(true)
        let isLate = Atomic(false)
        // The backup, which has a thread of its own, keeps the only connection.
        let end = ContinuousClock.now.advanced(by: .seconds(60))
        let adapter = try folder.adapter {
            $0.readerCount = 1
            $0.onBackupStep = {
                beginning.finish()
                // SQLite's thread waits here; its callback cannot suspend. The end is a limit, not a duration.
                while isHeld.load(ordering: .acquiring), ContinuousClock.now < end { usleep(1_000) }
                if isHeld.load(ordering: .acquiring) { isLate.store(true, ordering: .relaxed) }
            }
        }
        try await adapter.set("a/1", ["n": 1])
        let backup = Task { try await adapter.backup(to: folder.file("Copy.sqlite")) }
        for await _ in begun {}
        let reads = (0..<2 * ProcessInfo.processInfo.activeProcessorCount).map { _ in
            Task { await storageError { _ = try await adapter.document("a/1") } }
        }
        let others = reads.map { _ in Task {} }
        for other in others { await other.value }
        for read in reads { read.cancel() }
        for read in reads { #expect(await read.value?.code == .cancelled) }
        let wasLate = isLate.load(ordering: .relaxed)
        #expect(!wasLate, "the reads occupied every thread")
        isHeld.store(false, ordering: .releasing)
        try await backup.value
        #expect(try await adapter.document("a/1")?["n"] == 1)
    }

    @Test("work on the writing connection ends with its task, and waiting commits proceed")
    func writer() async throws {
        let folder = try TemporaryFolder()
        let adapter = try folder.adapter()
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            await storageError {
                try await adapter.working { database in
                    database.add(
                        function: DatabaseFunction("begin", argumentCount: 0) { _ in
                            beginning.finish()
                            return 0
                        }
                    )
                    // An endless query.
                    let sql = """
                        WITH RECURSIVE n(i) AS (SELECT begin() UNION ALL SELECT i + 1 FROM n)
                        SELECT max(i) FROM n
                        """
                    _ = try Int.fetchOne(database, sql: sql)
                }
            }
        }
        for await _ in begun {}
        let commit = Task { try await adapter.set("a/1", ["n": 1]) }
        // There is no event for a waiting commit; the time limit of the suite ends the loop.
        while adapter.waitingCommitCount == 0 { await Task.yield() }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        _ = try await commit.value
        #expect(try await adapter.document("a/1")?["n"] == 1)
        try await adapter.compact()
        #expect(try await adapter.checkIntegrity().isSound)
    }

    @Test("a canceled backup leaves no files")
    func backup() async throws {
        let folder = try TemporaryFolder()
        let adapter = try folder.adapter {
            $0.onBackupStep = { withUnsafeCurrentTask { $0?.cancel() } }
        }
        let text = String(repeating: "x", count: 10_000)
        for number in 0..<300 { try await adapter.set("a/\(number)", ["text": .string(text)]) }
        let task = Task {
            await storageError { try await adapter.backup(to: folder.file("copies/Copy.sqlite")) }
        }
        #expect(await task.value?.code == .cancelled)
        let left = try FileManager.default.contentsOfDirectory(
            atPath: folder.file("copies").path(percentEncoded: false)
        )
        #expect(left.isEmpty)
        #expect(try await adapter.document("a/1") != nil)
    }
}
#endif
