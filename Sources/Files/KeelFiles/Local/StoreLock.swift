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

/// The lock that serializes the last steps of changes, within the process and across processes.
///
/// It is held for a few operations on names and, if changes must survive a power failure, until the folder is
/// synchronized. Waiting does not block a thread, and ends when the task is canceled or, for another process, after
/// ``patience``.
final class StoreLock: Sendable {
    /// The maximum time that a change waits for other processes, counted from the last time that this process had the
    /// lock.
    static let patience = Duration.seconds(10)
    private static let pauses = (first: Duration.milliseconds(1), last: Duration.milliseconds(25))

    private let file: Descriptor
    private let path: String
    private let patience: Duration
    private let timeline: Timeline
    let line = TaskQueue()
    /// The time when a change of this process last released the lock.
    private let lastHeld = Mutex(Duration.zero)

    /// Creates a lock on a file that other processes lock as well; `path` is for messages.
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

    /// Runs a short change under the lock, blocking its thread.
    ///
    /// - Throws: The errors of the change; before it begins, `cancelled`, or `timeout` if another process keeps the
    ///   lock.
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
                // Queued changes wait from their own start, not one after the other; but while changes of this process
                // keep getting the lock, nothing is stuck.
                let now = timeline.now
                let end = max(start, lastHeld.withLock { $0 }) + patience
                guard now < end else { throw kept }
                do {
                    try await timeline.sleep(until: min(now + pause, end))
                } catch {
                    throw .cancellation
                }
                pause = min(pause * 2, Self.pauses.last)
            // If the volume does not support such locks, the changes of this process are still serialized.
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
