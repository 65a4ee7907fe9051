#if SQLite
internal import Dispatch
internal import KeelStorageAdapting

/// A thread for work that takes minutes, such as a backup.
actor MaintenanceThread {
    private final class Executor: SerialExecutor {
        private let queue: DispatchQueue

        init(_ name: String) { queue = DispatchQueue(label: name) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private nonisolated let executor: Executor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ name: String) { executor = Executor(name) }

    func run<Value: Sendable>(
        _ work: @Sendable () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await work()
    }

    func result<Value: Sendable>(
        _ work: @Sendable () async throws(StorageError) -> Value
    ) async -> Result<Value, StorageError> {
        do throws(StorageError) { return .success(try await work()) } catch {
            return .failure(error)
        }
    }
}
#endif
