internal import KeelCore
internal import Synchronization

/// Lets one task at a time deliver to a destination.
final class Turn: Sendable {
    private let isTaken = Mutex(false)
    private let freed = Signal()

    /// Waits for the turn; false if the task is canceled first.
    func take() async -> Bool {
        while !Task.isCancelled {
            let generation = freed.generation
            let isOurs = isTaken.withLock { isTaken in
                defer { isTaken = true }
                return !isTaken
            }
            if isOurs { return true }
            await freed.wait(since: generation)
        }
        return false
    }

    func give() {
        isTaken.withLock { $0 = false }
        freed.raise()
    }
}
