#if PostgreSQL
import Dispatch
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Reads of single documents")
struct PointReadTests {
    /// A table whose lookups wait at a gate.
    private final class Table: Sendable {
        let gate = Gate()
        let groups = Mutex<[[DocumentPath]]>([])
        /// The number of lookups, each with the groups that followed its first.
        let lookUpCount = Mutex(0)

        func lookUp(_ paths: [DocumentPath], then next: PointReads.Continue) async {
            lookUpCount.withLock { $0 += 1 }
            var paths = paths
            while !paths.isEmpty { paths = next(await answers(paths)) }
        }

        private func answers(_ paths: [DocumentPath]) async -> [PointReads.Answer] {
            groups.withLock { $0.append(paths) }
            guard (try? await gate.pass()) != nil else {
                return paths.map { _ in .failure(.cancellation) }
            }
            return paths.map { path in
                let document = Document(
                    path: path,
                    body: DocumentBody(bytes: []),
                    revision: Revision(number: 1),
                    createTime: Timestamp(microseconds: 1),
                    updateTime: Timestamp(microseconds: 1)
                )
                return .success(ReadResult(.documents([document])))
            }
        }
    }

    private static func path(_ number: Int) -> DocumentPath { DocumentPath("notes", "\(number)") }

    /// Returns as many reads as run at once, which wait at the gate of their table.
    private static func busy() async throws -> (Table, PointReads, [Task<ReadResult, any Error>]) {
        let table = Table()
        let reads = PointReads { await table.lookUp($0, then: $1) }
        let first = (0..<PointReads.mostAtOnce).map { number -> Task<ReadResult, any Error> in
            Task { try await reads.document(at: path(number)) }
        }
        try await waitUntil { table.gate.begunCount == PointReads.mostAtOnce }
        return (table, reads, first)
    }

    private static func found(_ result: ReadResult) -> DocumentPath? {
        guard case .documents(let documents) = result.payload else { return nil }
        return documents.first??.path
    }

    @Test("Reads that wait are answered together, each with its own document")
    func grouped() async throws {
        let table = Table()
        let reads = PointReads { await table.lookUp($0, then: $1) }
        let count = PointReads.mostAtOnce + PointReads.mostInGroup + 3
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    let result = try await reads.document(at: Self.path(number))
                    #expect(Self.found(result) == Self.path(number))
                }
            }
            try await waitUntil { reads.waitingCount == count - PointReads.mostAtOnce }
            table.gate.open()
            try await group.waitForAll()
        }
        // The last two begin at once, in any order.
        let sizes = table.groups.withLock { $0.map(\.count).sorted() }
        #expect(sizes == [1, 1, 3, PointReads.mostInGroup])
        // Every place has been given back.
        let last = try await reads.document(at: Self.path(count))
        #expect(Self.found(last) == Self.path(count))
        #expect(table.groups.withLock { $0.last } == [Self.path(count)])
    }

    @Test("Groups follow each other on a connection, for a while")
    func inARow() async throws {
        let (table, reads, first) = try await Self.busy()
        let count = (PointReads.mostAtOnce * PointReads.mostInRow + 1) * PointReads.mostInGroup
        let waiting = (0..<count).map { number in
            Task { try await reads.document(at: Self.path(1_000 + number)) }
        }
        try await waitUntil { reads.waitingCount == count }
        table.gate.open()
        for (number, task) in (first + waiting).enumerated() {
            let number = number < first.count ? number : 1_000 + number - first.count
            #expect(Self.found(try await task.value) == Self.path(number))
        }
        // The first reads, those that follow them in both places, and one group too many.
        #expect(table.lookUpCount.withLock { $0 } == 2 * PointReads.mostAtOnce + 1)
    }

    @Test("A canceled read ends at once, and concurrent reads do not")
    func canceled() async throws {
        let (table, reads, first) = try await Self.busy()
        let waiting = (10..<13).map { number in
            Task { try await reads.document(at: Self.path(number)) }
        }
        try await waitUntil { reads.waitingCount == 3 }
        waiting[0].cancel()
        await #expect(throws: StorageError.self) { try await waiting[0].value }
        // The place of a canceled read goes to the reads that wait.
        first[0].cancel()
        await #expect(throws: StorageError.self) { try await first[0].value }
        try await waitUntil { table.gate.begunCount == PointReads.mostAtOnce + 1 }
        waiting[1].cancel()
        await #expect(throws: StorageError.self) { try await waiting[1].value }
        table.gate.open()
        #expect(Self.found(try await waiting[2].value) == Self.path(12))
        #expect(Self.found(try await first[1].value) == Self.path(1))
        // Tasks reach the queue in any order.
        let last = table.groups.withLock { Set($0.last ?? []) }
        #expect(last == [Self.path(11), Self.path(12)])
    }

    @Test("A statement ends when nobody waits for its answers any more")
    func abandoned() async throws {
        let (table, reads, first) = try await Self.busy()
        let waiting = (10..<12).map { number in
            Task { try await reads.document(at: Self.path(number)) }
        }
        try await waitUntil { reads.waitingCount == 2 }
        first[0].cancel()
        await #expect(throws: StorageError.self) { try await first[0].value }
        // Both are read by one statement, which goes on for the second of them.
        try await waitUntil { table.gate.begunCount == PointReads.mostAtOnce + 1 }
        waiting[0].cancel()
        await #expect(throws: StorageError.self) { try await waiting[0].value }
        #expect(table.gate.cancelledCount == 1)
        waiting[1].cancel()
        await #expect(throws: StorageError.self) { try await waiting[1].value }
        try await waitUntil { table.gate.cancelledCount == 2 }
        let next = Task { try await reads.document(at: Self.path(20)) }
        try await waitUntil { table.gate.begunCount == PointReads.mostAtOnce + 2 }
        table.gate.open()
        #expect(Self.found(try await next.value) == Self.path(20))
        #expect(Self.found(try await first[1].value) == Self.path(1))
    }

    @Test("A read sees each commit that returned before it began, however many read")
    func current() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let client = StorageClient(adapter)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        for value in 1...25 {
                            let fields: DocumentFields = ["n": .integer(Int64(value))]
                            try await client.setDocument(Self.path(number), fields)
                            let document = try await client.getDocument(Self.path(number))
                            #expect(try document.fields()["n"] == .integer(Int64(value)))
                            let missing = Self.path(1_000 + number)
                            #expect(try await client.findDocument(missing) == nil)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Reads a document, and another one after it on the connection's thread, with an operation in between.
    private static func answers(
        of adapter: PostgreSQLStorageAdapter,
        _ operation: @escaping @Sendable () async -> Void
    ) async -> [PointReads.Answer] {
        let answers = Mutex<[PointReads.Answer]>([])
        await adapter.pool.documents(at: [Self.path(1)], in: adapter.store) { group in
            let count = answers.withLock { answers in
                answers += group
                return answers.count
            }
            guard count == 1 else { return [] }
            let isOver = DispatchSemaphore(value: 0)
            Task {
                await operation()
                isOver.signal()
            }
            isOver.wait()
            return [Self.path(2)]
        }
        return answers.withLock { $0 }
    }

    @Test("A read that begins after the adapter was closed fails, also behind reads under way")
    func closed() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let answers = await Self.answers(of: adapter) { await adapter.close() }
            try #require(answers.count == 2)
            #expect(throws: Never.self) { try answers[0].get() }
            let error = #expect(throws: StorageError.self) { try answers[1].get() }
            #expect(error?.code == .closed)
        }
    }

    @Test("A group whose connection is lost is read on another one, also behind other groups")
    func reconnects() async throws {
        let server = try await PostgreSQLServer.shared.value
        // All connections to a database of its own are the adapter's.
        let database = "reads_\(UInt32.random(in: 0 ... .max))"
        try await server.run("CREATE DATABASE \(database)")
        try await PostgreSQLServer.withStore(at: server.url(database: database)) { adapter in
            let answers = await Self.answers(of: adapter) {
                _ = try? await server.run(
                    """
                    SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
                    WHERE datname = '\(database)'
                    """
                )
            }
            try #require(answers.count == 2)
            for answer in answers { #expect(throws: Never.self) { try answer.get() } }
        }
    }

    @Test("A document that cannot be read fails the reads of that document alone")
    func unreadable() async throws {
        try await PostgreSQLServer.withStore {
            $0.sealing = FakeByteSealing(key: 42)
        } _: { adapter in
            let client = StorageClient(adapter)
            let fields: DocumentFields = ["n": 1]
            for number in 0..<2 { try await client.setDocument(Self.path(number), fields) }
            let store = adapter.store.number
            try await PostgreSQLServer.shared.value.run(
                "UPDATE keel.documents SET body = '\\xff' WHERE store = \(store) AND id = '0'"
            )
            let ids = await withTaskGroup(of: String?.self) { group in
                for number in 0..<64 {
                    group.addTask { try? await client.getDocument(Self.path(number % 2)).id }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(ids.count { $0 == nil } == 32)
            #expect(ids.count { $0 == "1" } == 32)
        }
    }
}
#endif
