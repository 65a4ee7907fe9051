package import KeelDocuments
internal import Synchronization

/// Tells when it is time to remove what the history does not keep any more.
package final class ForgettingPace: Sendable {
    /// When it is due next, in microseconds: at once after an opening.
    private let next = Atomic(Int64.min)

    package init() {}

    /// Makes it due with the next commit, because there is more to remove.
    package func goOn() { next.store(.min, ordering: .relaxed) }

    /// Whether a sixteenth of the age has passed since it was due last.
    package func isDue(at now: Timestamp, keeping age: Duration) -> Bool {
        let due = next.load(ordering: .relaxed)
        let later = now.advanced(by: max(.microseconds(1), age / 16)).microseconds
        // A clock that was set back must not put it off for longer than that.
        guard now.microseconds >= due || due > later else { return false }
        next.store(later, ordering: .relaxed)
        return true
    }
}
