internal import KeelCore
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// What puts the last steps of changes in a row: within the process and between processes.
///
/// It is held for a few calls on names, and never while the bytes of a file are written. Where a change
/// has to survive a power failure, it is held until its folder is synchronised.
///
/// Waiting holds no thread, and ends when the task is cancelled. A process that was stopped while it
/// held the lock, by a debugger for example, is waited for no longer than ``patience``.
final class StoreLock: Sendable {
    /// How long a change waits for other processes, unless another change of this process has had
    /// the lock meanwhile.
    static let patience = Duration.seconds(10)
    /// How long a change waits before it asks for the lock again: at first, and at most.
    private static let pauses = (first: Duration.milliseconds(1), last: Duration.milliseconds(25))

    private let file: Descriptor
    private let path: String
    private let patience: Duration
    private let timeline: Timeline
    /// The changes of this process.
    let line = WaitingLine()
    /// When a change of this process has had the lock last.
    private let lastHeld = Mutex(Duration.zero)

    /// Creates a lock.
    ///
    /// - Parameters:
    ///   - file: The file that other processes lock too.
    ///   - path: Where it is, for messages.
    ///   - patience: How long a change waits for other processes.
    ///   - clock: What the patience is measured on.
    init(
        _ file: Descriptor,
        path: String,
        patience: Duration = patience,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.file = file
        self.path = path
        self.patience = patience
        timeline = Timeline(clock)
    }

    /// Makes a change while nobody else does.
    ///
    /// - Parameter body: The change; it blocks its thread, and is short.
    /// - Returns: What the change returns.
    /// - Throws: What the change throws; and before it begins `cancelled`, or `timeout` when another
    ///   process keeps the lock.
    func hold<Value>(
        _ body: () throws(FileStoreError) -> Value
    ) async throws(FileStoreError) -> Value {
        let start = timeline.now
        guard await line.enter() else { throw .cancellation }
        defer { line.leave() }
        try await lock(since: start)
        defer {
            _ = flock(file.number, LOCK_UN)
            let end = timeline.now
            lastHeld.withLock { $0 = end }
        }
        return try body()
    }

    private func lock(since start: Duration) async throws(FileStoreError) {
        var pause = Self.pauses.first
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK:
                // Of many changes that wait, each has waited since it began, and not one after the
                // other; but as long as changes of this process get the lock, nothing is stuck.
                let now = timeline.now
                let end = max(start, lastHeld.withLock { $0 }) + patience
                guard now < end else { throw kept }
                do {
                    try await timeline.sleep(until: min(now + pause, end))
                } catch {
                    throw .cancellation
                }
                pause = min(pause * 2, Self.pauses.last)
            // Where a volume has no such locks, tasks of this process still take turns.
            default: return
            }
        }
    }

    private var kept: FileStoreError {
        FileStoreError(
            .timeout,
            """
            Another process has kept the lock \(path) for more than \(patience), and nothing was \
            changed: end that process or let it go on (`lsof` names it), then try again.
            """
        )
    }
}
