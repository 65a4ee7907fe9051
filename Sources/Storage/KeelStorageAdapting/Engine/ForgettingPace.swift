package import KeelDocuments
internal import Synchronization

/// The schedule for removing expired history.
package final class ForgettingPace: Sendable {
    /// The next due time, in microseconds; initially due at once.
    private let next = Atomic(Int64.min)

    package init() {}

    /// Makes the removal due at the next commit, because more history has expired.
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
