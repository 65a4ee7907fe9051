import Synchronization

/// Counts the moments in which the body of a long upload moved.
final class UploadActivity: Sendable {
    private let count = Mutex(0)

    var moments: Int { count.withLock { $0 } }

    /// What counts: the start of the body, and each piece that the network has taken.
    var observer: TransferObserver {
        .progress { _ in self.count.withLock { $0 += 1 } }
    }
}
