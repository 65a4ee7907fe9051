#if SQLite
internal import GRDB
internal import Synchronization

/// The read-only connections of an adapter, opened when reads need them.
///
/// GRDB's own pool looks up the version of the schema before each read and searches for a free connection; both take
/// a third of the time in which a document is read.
final class ReadConnections: Sendable {
    private struct State {
        var isClosed = false
        var all: [DatabaseQueue] = []
        /// The connections that no read uses; the last one was used last, and has the most recent pages.
        var free: [DatabaseQueue] = []
    }

    private let path: String
    private let settings: GRDB.Configuration
    private let state: Mutex<State>

    /// - Parameters:
    ///   - path: The path of the file.
    ///   - settings: The settings of the connections, which are read-only whatever these say.
    ///   - first: A connection that is open already.
    init(path: String, settings: GRDB.Configuration, first: DatabaseQueue? = nil) {
        self.path = path
        self.settings = settings
        let open = first.map { [$0] } ?? []
        state = Mutex(State(all: open, free: open))
    }

    /// Opens a read-only connection.
    static func open(_ path: String, _ settings: GRDB.Configuration) throws -> DatabaseQueue {
        var settings = settings
        settings.readonly = true
        return try DatabaseQueue(path: path, configuration: settings)
    }

    /// Calls `read` with a connection that no other read uses; opens one if there is none.
    func read<Value>(_ read: (Database) throws -> Value) throws -> Value {
        let queue = try take()
        defer { state.withLock { $0.free.append(queue) } }
        return try queue.unsafeRead { database in
            guard !state.withLock(\.isClosed) else { throw Self.closed }
            return try read(database)
        }
    }

    /// Closes the connections after the reads that use them; later reads throw an error.
    func close() {
        let all = state.withLock { state in
            state.isClosed = true
            defer { (state.all, state.free) = ([], []) }
            return state.all
        }
        for queue in all { try? queue.close() }
    }

    private func take() throws -> DatabaseQueue {
        let free = try state.withLock { state in
            guard !state.isClosed else { throw Self.closed }
            return state.free.popLast()
        }
        if let free { return free }
        let queue = try Self.open(path, settings)
        state.withLock { $0.all.append(queue) }
        return queue
    }

    private static var closed: DatabaseError { DatabaseError(resultCode: .SQLITE_MISUSE) }
}
#endif
