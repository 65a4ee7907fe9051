internal import Synchronization

/// A change of a file.
public enum FileChange: Hashable, Sendable {
    /// A file was created, or has new bytes.
    case written(FileStorePath)
    /// A file was removed.
    case removed(FileStorePath)
    /// Changes are not reported one by one, for example because there were too many or a folder was moved away: list
    /// the folder again.
    case missed
}

/// A sequence of changes to files, which ends if the store's folder is removed.
///
/// A change can be reported twice, and a change that was undone immediately can go unreported: use the changes only as
/// hints where to look. A slow reader gets ``FileChange/missed`` in place of more than a thousand changes. Tasks that
/// share one sequence each get some of the changes: request a sequence per task.
public struct FileChanges: AsyncSequence, Sendable {
    public typealias Element = FileChange
    public typealias Failure = Never

    private let inbox: FileChangeInbox

    package init(_ inbox: FileChangeInbox) { self.inbox = inbox }

    /// The iterator of the changes.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        let inbox: FileChangeInbox

        public mutating func next() async -> FileChange? { await inbox.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> FileChange? {
            await inbox.next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(inbox: inbox) }
}

/// The unread changes of an observer; its deallocation ends their source.
package final class FileChangeInbox: Sendable {
    private struct State {
        var changes: [FileChange] = []
        var waiters: [(id: UInt64, continuation: CheckedContinuation<FileChange?, Never>)] = []
        var lastWaiter: UInt64 = 0
        var isOver = false
    }

    private static let mostChanges = 1000

    private let state = Mutex(State())
    private let folder: FileStoreFolder
    private let onEnd: Mutex<(@Sendable () -> Void)?>

    package init(_ folder: FileStoreFolder, onEnd: (@Sendable () -> Void)? = nil) {
        self.folder = folder
        self.onEnd = Mutex(onEnd)
    }

    deinit { onEnd.withLock { $0.take() }?() }

    package func whenOver(_ action: @escaping @Sendable () -> Void) {
        onEnd.withLock { $0 = action }
    }

    package func tell(_ change: FileChange) {
        switch change {
        case .written(let path), .removed(let path):
            guard folder.contains(path) else { return }
        case .missed: break
        }
        let waiter = state.withLock { state -> CheckedContinuation<FileChange?, Never>? in
            if !state.waiters.isEmpty { return state.waiters.removeFirst().continuation }
            if state.changes.last == change { return nil }
            if state.changes.count >= Self.mostChanges {
                state.changes = [.missed]
            } else if state.changes != [.missed] {
                state.changes.append(change)
            }
            return nil
        }
        waiter?.resume(returning: change)
    }

    package func finish() {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: nil) }
    }

    func next() async -> FileChange? {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (change, isKnown) = state.withLock { state -> (FileChange?, Bool) in
                    if Task.isCancelled { return (nil, true) }
                    if !state.changes.isEmpty { return (state.changes.removeFirst(), true) }
                    if state.isOver { return (nil, true) }
                    state.waiters.append((id, continuation))
                    return (nil, false)
                }
                if isKnown { continuation.resume(returning: change) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: nil)
        }
    }
}
