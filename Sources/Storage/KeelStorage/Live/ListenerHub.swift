internal import KeelCore
package import KeelDocuments
package import KeelStorageAdapting
internal import Synchronization

/// Reads an adapter's change log once for all listeners of a client.
///
/// One task, the reader, waits for changes and puts them into the listeners' mailboxes. It starts with the first
/// listener and is canceled with the last. ``ListenerTable`` makes the decisions; ``ChangeReading`` reads.
package final class ListenerHub: ChangeReading {
    package typealias ID = ListenerTable.ID

    private struct State {
        var table = ListenerTable()
        var reader: Task<Void, Never>?
    }

    package let adapter: any StorageAdapter
    package let clock: any Clock<Duration>
    package let principal: StoragePrincipal?
    private let state = Mutex(State())
    private let turns = Signal()

    init(adapter: any StorageAdapter, configuration: StorageClient.Configuration) {
        self.adapter = adapter
        clock = configuration.clock
        principal = configuration.principal
    }

    deinit { state.withLock { $0.reader?.cancel() } }

    package var count: Int { state.withLock { $0.table.count } }

    // MARK: Subscribing

    /// Opens a mailbox.
    package func subscribe(_ subscription: Subscription) -> ID {
        let (id, old) = state.withLock { state -> (ID, Task<Void, Never>?) in
            let (id, isGivenUp) = state.table.subscribe(subscription)
            guard isGivenUp else { return (id, nil) }
            defer { state.reader = startReader(state.table.generation) }
            return (id, state.reader)
        }
        old?.cancel()
        return id
    }

    /// Closes a mailbox, and cancels the reader with the last one.
    package func unsubscribe(_ id: ID) {
        let reader = state.withLock { state -> Task<Void, Never>? in
            guard state.table.unsubscribe(id) else { return nil }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.cancel()
    }

    /// Starts the reader, if there is none, for a listener that has read its first state at `position`.
    ///
    /// - Returns: Whether the mailbox has every change after `position`. If false, the reader was ahead, and the
    ///   listener must read again.
    /// - Throws: `StorageError/Code/cancelled`.
    package func activate(
        _ id: ID,
        at position: ChangeCursor
    ) async throws(StorageError) -> Bool {
        while !Task.isCancelled {
            let turn = turns.generation
            let (activation, old) = state.withLock { state in
                let (activation, startsReader) = state.table.activate(id, at: position)
                guard startsReader else { return (activation, Task<Void, Never>?.none) }
                defer { state.reader = startReader(state.table.generation) }
                return (activation, state.reader)
            }
            old?.cancel()
            switch activation {
            case .covered: return true
            case .tooEarly: return false
            case .unknown: await turns.wait(since: turn)
            }
        }
        throw StorageError(.cancelled, "the call was canceled", cause: CancellationError())
    }

    // MARK: The reader

    package func nextRequest(of reader: UInt64) -> ChangeRequest? {
        state.withLock { $0.table.nextTurn(of: reader) }
    }

    package func deliver(_ page: ChangePage, of reader: UInt64) {
        change { $0.deliver(page, of: reader) }
    }

    package func restart(at position: ChangeCursor, of reader: UInt64) {
        change { $0.restart(at: position, of: reader) }
    }

    package func fail(_ error: StorageError, failures _: Int, of reader: UInt64) -> Bool {
        guard error.isTransient || error.isCancellation || error.code == .cursorExpired else {
            defer { turns.raise() }
            // Without listeners, the table has no further request for the reader.
            _ = state.withLock { $0.table.refuse(error.during("listen"), of: reader) }
            return false
        }
        change { $0.miss(of: reader, isLost: error.code != .cursorExpired) }
        return true
    }

    private func change(_ change: (inout ListenerTable) -> Bool) {
        if state.withLock({ change(&$0.table) }) { turns.raise() }
    }
}
