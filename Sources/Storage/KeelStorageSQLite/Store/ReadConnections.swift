#if SQLite
internal import Foundation
internal import GRDB
internal import KeelStorageAdapting
internal import Synchronization

/// The read-only connections of an adapter, opened when reads need them.
///
/// GRDB's own pool costs as much per read as reading a document.
final class ReadConnections: Sendable {
    private struct State {
        var isClosed = false
        var all: [DatabaseQueue] = []
        /// The connections that no read uses; the last one was used last, and has the most recent pages.
        var free: [DatabaseQueue] = []
    }

    private let path: String
    private let settings: GRDB.Configuration
    private let fileNumber: String?
    private let state: Mutex<State>

    /// Creates a set of connections, which are read-only whatever `settings` says; `first` is open already.
    init(path: String, settings: GRDB.Configuration, first: DatabaseQueue? = nil) {
        self.path = path
        self.settings = settings
        fileNumber = Self.fileNumber(at: path)
        let open = first.map { [$0] } ?? []
        state = Mutex(State(all: open, free: open))
    }

    static func open(_ path: String, _ settings: GRDB.Configuration) throws -> DatabaseQueue {
        var settings = settings
        settings.readonly = true
        return try DatabaseQueue(path: path, configuration: settings)
    }

    func read<Value>(_ read: (Database) throws -> Value) throws -> Value {
        let queue = try take()
        defer { state.withLock { if !$0.isClosed { $0.free.append(queue) } } }
        return try queue.unsafeRead { database in
            guard !state.withLock(\.isClosed) else { throw Self.closed }
            return try read(database)
        }
    }

    /// Checks, after another connection was opened, that the file is still the same: reads would be answered from both.
    ///
    /// - Throws: `StorageError/Code/closed` if there is another file.
    func checkFile() throws {
        guard let fileNumber, let number = Self.fileNumber(at: path), number != fileNumber else {
            return
        }
        throw StorageError.replaced
    }

    private static func fileNumber(at path: String) -> String? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.systemFileNumber].map { "\($0)" }
    }

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
        try checkFile()
        let isClosed = state.withLock { state in
            if !state.isClosed { state.all.append(queue) }
            return state.isClosed
        }
        guard !isClosed else {
            try queue.close()
            throw Self.closed
        }
        return queue
    }

    private static var closed: DatabaseError { DatabaseError(resultCode: .SQLITE_MISUSE) }
}
#endif
