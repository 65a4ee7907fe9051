#if canImport(Darwin)
import KeelHTTP
import Synchronization

/// Counts the bytes that the system reports for a task, and informs an observer.
final class BackgroundWatch: Sendable {
    private let observer: ResumableTransferObserver?
    private let counts = Mutex<(resumed: Int64, moved: Int64)>((0, 0))

    init(_ observer: ResumableTransferObserver?) { self.observer = observer }

    var resumedBytes: Int64 { counts.withLock { $0.resumed } }

    var movedBytes: Int64 { counts.withLock { $0.moved } }

    func resumed(at offset: Int64) {
        guard offset > 0 else { return }
        counts.withLock { $0 = (offset, offset) }
        observer?.tell(.resumed(at: offset))
    }

    /// Records the bytes sent or received so far; a negative total is unknown.
    func moved(_ count: Int64, of total: Int64) {
        counts.withLock { $0.moved = count }
        let total = total < 0 ? nil : total
        observer?.tell(
            .provisionalProgress(TransferProgress(completedBytes: count, totalBytes: total))
        )
    }
}
#endif
