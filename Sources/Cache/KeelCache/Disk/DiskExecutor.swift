internal import Dispatch

/// The thread on which the changes of one folder wait for the disk.
///
/// `fsync`, snapshots and eviction take milliseconds, too long for the cooperative pool.
final class DiskExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "keel.cache.disk")
    private let diskWork: DiskCacheTier.Configuration.DiskWork?

    init(_ diskWork: DiskCacheTier.Configuration.DiskWork?) { self.diskWork = diskWork }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let diskWork {
            diskWork { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        } else {
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }
}
