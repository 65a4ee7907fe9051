import KeelStorageAdapting
import KeelTestKit
import Synchronization
import Testing

@Suite("Commit queue", .timeLimit(.minutes(1)))
struct CommitLineTests {
    private static func batch(_ writes: Int) -> WriteBatch {
        WriteBatch((0..<writes).map { DocumentWrite("notes/\($0)", .delete) })
    }

    /// Returns a description of a turn.
    private static func words(_ turn: CommitLine.Turn) -> String {
        switch turn {
        case .write(let isAlone): isAlone ? "write alone" : "write"
        case .over(.success(let results)): "over, \(results.count)"
        case .over(.failure(let error)): "failed, \(error.code.name)"
        }
    }

    private static func turn(
        in line: CommitLine,
        for batches: [WriteBatch],
        isAlone: Bool = false
    ) -> Task<String, Never> {
        Task { words(await line.turn(for: batches, isAlone: isAlone)) }
    }

    @Test("The first commit writes immediately, the next one after the first has left")
    func turns() async throws {
        let line = CommitLine()
        #expect(Self.words(await line.turn(for: [])) == "write")
        let second = Self.turn(in: line, for: [Self.batch(1)])
        try await waitUntil { line.count == 1 }
        line.leave()
        #expect(await second.value == "write")
        line.leave()
        #expect(Self.words(await line.turn(for: [])) == "write", "the line is empty again")
    }

    @Test("The writer includes the batches of others up to a number of writes")
    func together() async throws {
        let line = CommitLine()
        _ = await line.turn(for: [Self.batch(100)])
        var tasks: [Task<String, Never>] = []
        for count in [200, 200, 200] {
            tasks.append(Self.turn(in: line, for: [Self.batch(count)]))
            try await waitUntil { line.count == tasks.count }
        }
        let others = line.others(along: [Self.batch(100)])
        #expect(others.map(\.batches.count) == [1, 1])
        #expect(line.count == 1)
        for other in others { other.finish(.success([])) }
        line.leave()
        #expect(await tasks[0].value == "over, 0")
        #expect(await tasks[1].value == "over, 0")
        #expect(await tasks[2].value == "write")
    }

    @Test("The writer includes the batches of others up to a number of bytes")
    func bytes() async throws {
        let line = CommitLine()
        let body = DocumentBody(["n": .bytes(Array(repeating: 1, count: 1_000_000))])
        let large = WriteBatch([DocumentWrite("notes/1", .set(body))])
        _ = await line.turn(for: [large])
        var tasks: [Task<String, Never>] = []
        for _ in 0..<4 {
            tasks.append(Self.turn(in: line, for: [large]))
            try await waitUntil { line.count == tasks.count }
        }
        let others = line.others(along: [large])
        #expect(others.count == 3, "four megabytes, with the writer's own")
        for other in others { other.finish(.success([])) }
        line.leave()
        #expect(await tasks[3].value == "write")
    }

    @Test("Requeued commits come first and write alone")
    func putBack() async throws {
        let line = CommitLine()
        _ = await line.turn(for: [])
        let first = Self.turn(in: line, for: [Self.batch(1)])
        try await waitUntil { line.count == 1 }
        let others = line.others(along: [Self.batch(1)])
        let second = Self.turn(in: line, for: [Self.batch(1)])
        try await waitUntil { line.count == 1 }
        line.putBack(others, isAlone: true)
        let more = line.others(along: [Self.batch(1)])
        #expect(more.isEmpty, "a batch that is to be alone is not taken along")
        line.leave()
        #expect(await first.value == "write alone")
        line.leave()
        #expect(await second.value == "write")
    }

    /// Writes a group of a caller and three that wait.
    private static func writeGroup(in line: CommitLine) async throws {
        let first = turn(in: line, for: [batch(1)])
        #expect(await first.value == "write")
        var tasks: [Task<String, Never>] = []
        for _ in 0..<3 {
            tasks.append(turn(in: line, for: [batch(1)]))
            try await waitUntil { line.count == tasks.count }
        }
        for other in line.others(along: [batch(1)]) { other.finish(.success([])) }
        for task in tasks { #expect(await task.value == "over, 0") }
        line.leave()
    }

    @Test("A queue that gathers waits until as many callers have come as the group had")
    func gathers() async throws {
        let line = CommitLine(gatheringUpTo: .seconds(3600))
        try await Self.writeGroup(in: line)
        var tasks: [Task<String, Never>] = []
        for _ in 0..<3 {
            tasks.append(Self.turn(in: line, for: [Self.batch(1)]))
            try await waitUntil { line.count == tasks.count }
        }
        let last = Self.turn(in: line, for: [Self.batch(1)])
        #expect(await tasks[0].value == "write")
        let others = line.others(along: [Self.batch(1)])
        #expect(others.count == 3)
        for other in others { other.finish(.success([])) }
        #expect(await last.value == "over, 0")
    }

    @Test("The wait for callers who do not return ends, and small groups are followed by none")
    func endsGathering() async throws {
        let line = CommitLine(gatheringUpTo: .milliseconds(1))
        try await Self.writeGroup(in: line)
        #expect(Self.words(await line.turn(for: [])) == "write")
        let next = Self.turn(in: line, for: [])
        try await waitUntil { line.count == 1 }
        line.leave()
        #expect(await next.value == "write")

        let patient = CommitLine(gatheringUpTo: .seconds(3600))
        _ = await patient.turn(for: [])
        _ = patient.others(along: [])
        patient.leave()
        #expect(Self.words(await patient.turn(for: [])) == "write")
    }

    private final class Count: Sendable {
        let value = Mutex(0)
    }

    /// Commits to a store that fails with a code, and returns the code of the commit's error.
    private static func failure(
        of line: CommitLine,
        _ code: StorageError.Code,
        _ count: Count
    ) async -> StorageError.Code? {
        do throws(StorageError) {
            _ = try await line.commit([batch(1)]) { _ throws(StorageError) in
                count.value.withLock { $0 += 1 }
                throw StorageError(code, "the store fails")
            }
            return nil
        } catch { return error.code }
    }

    @Test(
        "A store that does not answer fails all that wait at once, and a refused one each apart",
        arguments: [
            (StorageError.Code.timeout, 1), (.unavailable, 1), (.busy, 1), (.diskFull, 5),
        ]
    )
    func fails(_ code: StorageError.Code, _ attempts: Int) async throws {
        let line = CommitLine()
        let count = Count()
        _ = await line.turn(for: [])
        var tasks: [Task<StorageError.Code?, Never>] = []
        for number in 0..<4 {
            tasks.append(Task { await Self.failure(of: line, code, count) })
            try await waitUntil { line.count == number + 1 }
        }
        line.leave()
        for task in tasks { #expect(await task.value == code) }
        // The first one is that of all together.
        #expect(count.value.withLock { $0 } == attempts)
    }

    @Test("A canceled task leaves the queue")
    func cancels() async throws {
        let line = CommitLine()
        _ = await line.turn(for: [])
        let waiting = Self.turn(in: line, for: [Self.batch(1)])
        try await waitUntil { line.count == 1 }
        waiting.cancel()
        #expect(await waiting.value == "failed, cancelled")
        #expect(line.count == 0)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return Self.words(await line.turn(for: []))
        }
        #expect(await late.value == "failed, cancelled")
    }
}
