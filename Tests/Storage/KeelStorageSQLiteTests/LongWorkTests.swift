#if SQLite
import Dispatch
import Foundation
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// Work that blocks its thread, in as many tasks as would occupy all threads that run tasks.
@Suite("Long work on an SQLite store", .timeLimit(.minutes(10)))
struct LongWorkTests {
    /// Blocks the thread that opens or seals a body after a number of them, until it is released.
    private final class BlockingSealing: ByteSealing {
        private struct State {
            var calls: [ObjectIdentifier: Int] = [:]
            var blocked = 0
            var isArmed = false
            var waitedInVain = 0
            var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
        }

        @TaskLocal static var task: Label?
        final class Label: Sendable {}

        private let inner = FakeByteSealing(key: 1)
        private let state = Mutex(State())
        private let gate = DispatchSemaphore(value: 0)
        private let patience: Int

        /// - Parameter patience: The number of bodies per task that do not block.
        init(after patience: Int) { self.patience = patience }

        /// Waits until a number of threads are blocked.
        func waitForBlocked(_ count: Int) async {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if state.blocked < count { state.waiter = (count, continuation) }
                    return state.blocked >= count
                }
                if isDone { continuation.resume() }
            }
        }

        func arm() { state.withLock { $0.isArmed = true } }

        func release() {
            let count = state.withLock { state in
                state.isArmed = false
                return state.blocked
            }
            for _ in 0..<count { gate.signal() }
        }

        private func pass() {
            guard let task = Self.task.map(ObjectIdentifier.init) else { return }
            let (mustBlock, waiter) = state.withLock {
                state -> (Bool, CheckedContinuation<Void, Never>?) in
                guard state.isArmed else { return (false, nil) }
                state.calls[task, default: 0] += 1
                guard state.calls[task] == patience + 1 else { return (false, nil) }
                state.blocked += 1
                guard let waiter = state.waiter, state.blocked >= waiter.count else {
                    return (true, nil)
                }
                state.waiter = nil
                return (true, waiter.continuation)
            }
            waiter?.resume()
            // Without the time limit, a failure would end the process instead of the test.
            guard mustBlock, gate.wait(timeout: .now() + 30) == .timedOut else { return }
            state.withLock { $0.waitedInVain += 1 }
        }

        /// The number of threads that were not released, because no other task ran.
        var waitedInVain: Int { state.withLock { $0.waitedInVain } }

        func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
            pass()
            return try inner.seal(plain, context: context)
        }

        func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8] {
            pass()
            return try inner.open(sealed, context: context)
        }

        func fingerprint(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
            try inner.fingerprint(plain, context: context)
        }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func filled(
        _ sealing: BlockingSealing,
        readers: Int = 1
    ) async throws -> SQLiteStorageAdapter {
        let adapter = try folder.adapter { configuration in
            configuration.sealing = sealing
            configuration.readerCount = readers
        }
        let writes = (0..<500).map { number in
            DocumentWrite(
                DocumentPath("notes", String(1_000 + number)),
                .set(DocumentBody(["n": .integer(Int64(number))]))
            )
        }
        try await adapter.apply(WriteBatch(writes))
        return adapter
    }

    /// Runs as many tasks at a time as there are processors and more, and checks that others run meanwhile.
    private func runBeside(
        _ sealing: BlockingSealing,
        count: Int,
        _ work: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        sealing.arm()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    try await BlockingSealing.$task.withValue(BlockingSealing.Label()) {
                        try await work(number)
                    }
                }
            }
            // This task continues on a thread that the others would occupy.
            await sealing.waitForBlocked(count)
            sealing.release()
            try await group.waitForAll()
        }
        #expect(sealing.waitedInVain == 0)
    }

    private static let processors = ProcessInfo.processInfo.activeProcessorCount

    private static let longQueries: [(String, DocumentQuery)] = [
        ("everything", DocumentQuery("notes")),
        (
            "the first of an order without an index",
            DocumentQuery("notes").order(by: "n").limit(to: 5)
        ),
        ("a filter that finds nothing", DocumentQuery("notes").where(.equal("n", -1)).limit(to: 5)),
        ("a page after many", DocumentQuery("notes").limit(to: 300)),
    ]

    @Test("Long queries leave the threads of tasks free", arguments: longQueries)
    func queries(_: String, _ query: DocumentQuery) async throws {
        let readers = Self.processors + 2
        // After the documents that a query may examine on the thread of its caller, before it begins again.
        let sealing = BlockingSealing(after: 250)
        let adapter = try await filled(sealing, readers: readers)
        try await runBeside(sealing, count: readers) { _ in _ = try await adapter.found(query) }
        try adapter.close()
    }

    @Test("Aggregates and reads of many documents leave the threads of tasks free")
    func otherReads() async throws {
        let readers = Self.processors + 2
        let sealing = BlockingSealing(after: 0)
        let adapter = try await filled(sealing, readers: readers)
        let query = try QueryValidation.checked(DocumentQuery("notes"))
        let paths = (0..<101).map { DocumentPath("notes", String(1_000 + $0)) }
        try await runBeside(sealing, count: readers) { number in
            let operation: ReadOperation =
                number.isMultiple(of: 2) ? .aggregate(query, [.sum("n")]) : .documents(paths)
            _ = try await adapter.read(ReadRequest(operation))
        }
        try adapter.close()
    }

    @Test("Large commits leave the threads of tasks free")
    func commits() async throws {
        let sealing = BlockingSealing(after: 0)
        var adapters: [SQLiteStorageAdapter] = []
        for number in 0..<Self.processors + 1 {
            adapters.append(try folder.adapter("\(number).sqlite") { $0.sealing = sealing })
        }
        try await runBeside(sealing, count: adapters.count) { [adapters] number in
            let writes = (0..<60).map {
                DocumentWrite(DocumentPath("notes", "\($0)"), .set(DocumentBody(["n": 1])))
            }
            try await adapters[number].apply(WriteBatch(writes))
        }
        for adapter in adapters { try adapter.close() }
    }

    @Test(
        "Pages of changes leave the threads of tasks free",
        arguments: [
            ChangeRequest(), ChangeRequest(scope: .collections(["notes"]), limit: 50),
            ChangeRequest(scope: .documents(["notes/1499"]), limit: 1),
        ]
    )
    func pages(_ request: ChangeRequest) async throws {
        let readers = Self.processors + 2
        let sealing = BlockingSealing(after: 0)
        let adapter = try await filled(sealing, readers: readers)
        try await runBeside(sealing, count: readers) { _ in _ = try await adapter.changes(request) }
        try adapter.close()
    }

    @Test("Commits that wait for the disk leave the threads of tasks free")
    func flushedCommits() async throws {
        let sealing = BlockingSealing(after: 0)
        var adapters: [SQLiteStorageAdapter] = []
        for number in 0..<Self.processors + 1 {
            adapters.append(
                try folder.adapter("\(number).sqlite") { configuration in
                    (configuration.sealing, configuration.durability) = (sealing, .power)
                }
            )
        }
        try await runBeside(sealing, count: adapters.count) { [adapters] number in
            try await adapters[number].set("notes/1", ["n": 1])
        }
        for adapter in adapters { try adapter.close() }
    }

    @Test("A query that begins again on another thread returns the same result once")
    func result() async throws {
        let adapter = try await filled(BlockingSealing(after: 0))
        let query = DocumentQuery("notes").order(by: "n", .descending).limit(to: 3)
        let (documents, plan) = try await adapter.found(query)
        #expect(documents.map(\.id) == ["1499", "1498", "1497"])
        #expect(plan?.examined == 500)
        try adapter.close()
    }
}
#endif
