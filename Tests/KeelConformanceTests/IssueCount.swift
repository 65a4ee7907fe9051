import Synchronization

/// A number that issue handlers can raise from any task.
final class IssueCount: Sendable {
    private let total = Mutex(0)

    var count: Int { total.withLock { $0 } }

    func add() { total.withLock { $0 += 1 } }
}
