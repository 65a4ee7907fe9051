import Synchronization

/// A count that issue handlers can increment from any task.
final class IssueCount: Sendable {
    private let total = Mutex(0)

    var count: Int { total.withLock { $0 } }

    func add() { total.withLock { $0 += 1 } }
}
