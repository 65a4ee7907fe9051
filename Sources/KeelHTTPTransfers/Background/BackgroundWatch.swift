#if canImport(Darwin)
import KeelHTTP
import Synchronization

/// Counts what the system tells of a task, and passes it on to an observer.
final class BackgroundWatch: Sendable {
    private let observer: ResumableTransferObserver?
    private let counts = Mutex<(resumed: Int64, moved: Int64)>((0, 0))

    init(_ observer: ResumableTransferObserver?) { self.observer = observer }

    /// How many bytes there were before this run.
    var resumedBytes: Int64 { counts.withLock { $0.resumed } }

    /// How many bytes there are, as the system has told last.
    var movedBytes: Int64 { counts.withLock { $0.moved } }

    /// Notes that the system goes on behind bytes that it has.
    func resumed(at offset: Int64) {
        guard offset > 0 else { return }
        counts.withLock { $0 = (offset, offset) }
        observer?.tell(.resumed(at: offset))
    }

    /// Notes that so many bytes were sent or received; a negative total is one that is not known.
    func moved(_ count: Int64, of total: Int64) {
        counts.withLock { $0.moved = count }
        let total = total < 0 ? nil : total
        observer?.tell(.underway(TransferProgress(completedBytes: count, totalBytes: total)))
    }
}
#endif
