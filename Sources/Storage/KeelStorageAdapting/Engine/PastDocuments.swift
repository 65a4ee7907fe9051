package import KeelDocuments
internal import Synchronization

package struct PastDocuments {
    /// The documents that differed, did not exist yet, or have since been removed.
    package var changed: Set<DocumentPath> = []
    /// The documents among them that the query would have found, with their sort keys.
    package private(set) var found: [(key: [UInt8], document: Document)] = []
    /// The documents among them whose state at that time cannot be read.
    package var unreadable: [UnreadableDocument] = []

    package init() {}

    package mutating func take(_ document: Document, at key: [UInt8], within window: Int?) {
        found.append((key, document))
        guard let window, found.count > 2 * window + 1_000 else { return }
        found.sort { $0.key.lexicographicallyPrecedes($1.key) }
        found.removeLast(found.count - window)
    }
}

package final class ForgettingPace: Sendable {
    /// The next due time, in microseconds; initially due at once.
    private let next = Atomic(Int64.min)

    package init() {}

    package func goOn() { next.store(.min, ordering: .relaxed) }

    /// Returns whether a sixteenth of the history's age has passed since the last removal.
    package func isDue(at now: Timestamp, keeping age: Duration) -> Bool {
        let due = next.load(ordering: .relaxed)
        let later = now.advanced(by: max(.microseconds(1), age / 16)).microseconds
        // After the clock is set back, the due time must not be further away than one interval.
        guard now.microseconds >= due || due > later else { return false }
        next.store(later, ordering: .relaxed)
        return true
    }
}

extension Timestamp {
    /// Returns whether a store can read its state of this time, given its latest time: no later commit gets the
    /// microsecond after it.
    package func mayBeRead(at present: Timestamp) -> Bool {
        self <= present.advanced(by: .microseconds(1))
    }
}

extension StorageError {
    package static func snapshotTooOld(_ time: Timestamp) -> Self {
        Self(.snapshotTooOld, "the store’s history does not reach back to \(time.rfc3339)")
    }

    package static func notYet(_ time: Timestamp, present: Timestamp) -> Self {
        Self(
            .invalidArgument,
            "\(time.rfc3339) is in the future; the latest readable time is \(present.rfc3339)"
        )
    }
}
