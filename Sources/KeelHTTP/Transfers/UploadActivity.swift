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

extension Deadline {
    /// Creates a deadline that is reached when an upload has not moved for a whole `span`, and not
    /// before: at the latest after two of them.
    init(withoutMoving activity: UploadActivity, for span: Duration, on clock: any Clock<Duration>)
    {
        self.init {
            var seen: Int
            repeat {
                seen = activity.moments
                try await clock.sleep(for: span)
            } while activity.moments != seen
        }
    }
}
