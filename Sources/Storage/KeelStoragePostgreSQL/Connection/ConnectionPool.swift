#if PostgreSQL
internal import KeelCore
internal import KeelStorageAdapting
internal import Synchronization

/// The connections of an adapter: one that writes, and several that read.
final class ConnectionPool: Sendable {
    private struct State {
        var idle: [ConnectionThread] = []
        /// The number of reading connections, idle or not.
        var count = 0
        var isClosed = false
    }

    let settings: ConnectionSettings
    let answerLimit: Duration
    let writer: ConnectionThread
    private let state = Mutex(State())
    private let reads: TaskQueue

    init(
        _ settings: ConnectionSettings,
        readerCount: Int,
        answerLimit: Duration
    ) throws(StorageError) {
        self.settings = settings
        self.answerLimit = answerLimit
        reads = TaskQueue(admitting: max(1, readerCount))
        writer = try StorageError.mapping {
            try ConnectionThread("keel.postgresql.writer", settings, answerLimit: answerLimit)
        }
    }

    /// Runs work on a reading connection, when one is free.
    func reading<Value: Sendable>(
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
                reads.leave()
                return value
            } catch {
                guard error.isLackOfConnections, drop(thread) else {
                    putBack(thread)
                    reads.leave()
                    throw error
                }
                // The server allows fewer connections: the pool keeps what it has, and this place stays taken.
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
        do throws(DatabaseFailure) {
            return try ConnectionThread(
                "keel.postgresql.reader",
                settings,
                answerLimit: answerLimit
            )
        } catch {
            state.withLock { $0.count -= 1 }
            throw StorageError(mapping: error)
        }
    }

    private func putBack(_ thread: ConnectionThread) {
        state.withLock { if !$0.isClosed { $0.idle.append(thread) } }
    }

    /// Gives a connection up for good, unless it is the only one.
    private func drop(_ thread: ConnectionThread) -> Bool {
        state.withLock { state in
            guard state.count > 1 else { return false }
            state.count -= 1
            return true
        }
    }
}

extension StorageError {
    /// Whether the server allows no further connections, or the process no further file descriptors.
    var isLackOfConnections: Bool {
        (cause as? DatabaseFailure)?.state == "53300"
    }
}
#endif
