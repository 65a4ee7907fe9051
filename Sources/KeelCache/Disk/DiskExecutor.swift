internal import Dispatch

/// The thread on which the changes of one folder wait for the disk.
///
/// `fsync`, snapshots and making room take milliseconds. They would otherwise hold one of the few
/// threads on which all tasks run.
final class DiskExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "keel.cache.disk")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
