internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// Admits the requests of each transaction one after the other.
final class TransactionTurns: Sendable {
    private let queues = Mutex<[String: (queue: TaskQueue, users: Int)]>([:])

    /// Performs work for a transaction when its earlier work has ended.
    ///
    /// - Throws: The error of the work, or `StorageError/Code/cancelled`.
    func take<Value>(
        in transaction: String,
        _ work: () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let queue = queues.withLock { queues in
            let (queue, users) = queues[transaction] ?? (queue: TaskQueue(), users: 0)
            queues[transaction] = (queue: queue, users: users + 1)
            return queue
        }
        defer {
            queues.withLock { queues in
                guard let users = queues[transaction]?.users else { return }
                queues[transaction] = users > 1 ? (queue: queue, users: users - 1) : nil
            }
        }
        guard await queue.enter() else { throw .cancellation }
        defer { queue.leave() }
        return try await work()
    }
}
