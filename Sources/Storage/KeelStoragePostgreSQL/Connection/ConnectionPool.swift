#if PostgreSQL
internal import KeelCore
internal import KeelStorageAdapting
internal import Synchronization

/// An adapter's connections: one that writes, and several that read.
final class ConnectionPool: Sendable {
    private struct State {
        var idle: [ConnectionThread] = []
        /// Idle or not.
        var count = 0
        /// The number of refused places, and when they are given back.
        var refusedCount = 0
        var recovery = Duration.zero
        var isClosed = false
    }

    /// The number of connections that queries leave to quick work.
    private static let reserve = 2
    private static let recoveryPause = Duration.seconds(30)

    let settings: ConnectionSettings
    let answerLimit: Duration
    let writer: ConnectionThread
    private let state = Mutex(State())
    private let timeline: Timeline
    private let reads: TaskQueue
    /// The reads that may take long: they wait here first, so that they cannot fill ``reads``.
    private let queries: TaskQueue

    init(
        _ settings: ConnectionSettings,
        readerCount: Int,
        answerLimit: Duration,
        clock: any Clock<Duration>
    ) throws(StorageError) {
        self.settings = settings
        self.answerLimit = answerLimit
        timeline = Timeline(clock)
        reads = TaskQueue(admitting: max(1, readerCount))
        queries = TaskQueue(admitting: max(1, readerCount - Self.reserve))
        writer = try ConnectionThread(
            "keel.postgresql.writer",
            settings,
            answerLimit: answerLimit
        )
    }

    var readerCount: Int { state.withLock { $0.count } }

    var refusedCount: Int { state.withLock { $0.refusedCount } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Runs work on a reading connection, when one is free.
    ///
    /// Quick work, whose duration does not depend on the size of the store, does not wait for queries unless the pool
    /// has only one connection.
    func reading<Value: Sendable>(
        isQuick: Bool = false,
        _ work: @escaping @Sendable (DatabaseConnection) throws -> Value
    ) async throws(StorageError) -> Value {
        // Before it waits, as those that wait already may need the places.
        recover()
        guard !isQuick else { return try await admitted(work) }
        guard await queries.enter() else { throw .cancellation }
        defer { queries.leave() }
        return try await admitted(work)
    }

    private func admitted<Value: Sendable>(
        _ work: @escaping @Sendable (DatabaseConnection) throws -> Value
    ) async throws(StorageError) -> Value {
        while true {
            guard await reads.enter() else { throw .cancellation }
            let thread: ConnectionThread
            do throws(StorageError) { thread = try take() } catch {
                reads.leave()
                throw error
            }
            do throws(StorageError) {
                let value = try await thread.run(work)
                putBack(thread)
                return value
            } catch {
                guard error.isLackOfConnections, drop(thread) else {
                    putBack(thread)
                    throw error
                }
                // The server allows fewer connections: the pool keeps what it has, and this place stays taken for now.
            }
        }
    }

    func close() async {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            state.isClosed = true
            return state.idle
        }
        for thread in idle { await thread.close() }
        await writer.close()
    }

    private func take() throws(StorageError) -> ConnectionThread {
        let (idle, isClosed) = state.withLock { state -> (ConnectionThread?, Bool) in
            // The last one used is the most likely to be connected.
            let idle = state.idle.popLast()
            if idle == nil { state.count += 1 }
            return (idle, state.isClosed)
        }
        guard !isClosed else { throw StorageError(.closed, "the adapter has been closed") }
        if let idle { return idle }
        do throws(StorageError) {
            return try ConnectionThread(
                "keel.postgresql.reader",
                settings,
                answerLimit: answerLimit
            )
        } catch {
            state.withLock { $0.count -= 1 }
            throw error
        }
    }

    private func putBack(_ thread: ConnectionThread) {
        state.withLock { if !$0.isClosed { $0.idle.append(thread) } }
        reads.leave()
        recover()
    }

    /// Gives a connection and its place up for a while, unless it is the only one; returns whether it did.
    private func drop(_ thread: ConnectionThread) -> Bool {
        let recovery = timeline.now + Self.recoveryPause
        return state.withLock { state in
            guard state.count > 1 else { return false }
            state.count -= 1
            state.refusedCount += 1
            state.recovery = recovery
            return true
        }
    }

    private func recover() {
        let now = timeline.now
        let count = state.withLock { state -> Int in
            guard now >= state.recovery else { return 0 }
            defer { state.refusedCount = 0 }
            return state.refusedCount
        }
        for _ in 0..<count { reads.leave() }
    }
}

extension StorageError {
    var isLackOfConnections: Bool {
        (cause as? DatabaseFailure)?.isLackOfConnections == true
    }
}
#endif
