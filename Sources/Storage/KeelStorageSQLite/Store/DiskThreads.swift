#if SQLite
internal import Dispatch
internal import KeelStorageAdapting
internal import Synchronization

/// Threads for long work on the disk, as many as there is work at a time.
final class DiskThreads: Sendable {
    private final class Thread: TaskExecutor {
        // A serial queue has a thread whenever it has a job; a concurrent queue waits for others that are blocked.
        private let queue = DispatchQueue(label: "keel.storage.disk")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    private let idle = Mutex<[Thread]>([])

    func run<Value: Sendable>(
        _ work: @Sendable () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let thread = idle.withLock { $0.popLast() } ?? Thread()
        defer { idle.withLock { $0.append(thread) } }
        return try await withTaskExecutorPreference(thread) {
            () async throws(StorageError) in try await Self.concurrently(work)
        }
    }

    // Concurrent, because only such functions run on the preferred executor of a task. The check keeps the compiler
    // (Swift 6.3) from removing the switch to the thread, which it does before a call that has none of its own.
    @concurrent
    private static func concurrently<Value: Sendable>(
        _ work: @Sendable () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        guard !Task.isCancelled else { throw .cancellation }
        return try await work()
    }
}
#endif
