internal import Dispatch

/// The threads on which reads of all folders wait for the disk.
///
/// What is not in the system's memory takes from a tenth of a millisecond to many of them, in which
/// the read would hold one of the few threads on which all tasks run. The two changes of threads
/// take about one microsecond.
enum DiskReadQueue {
    private static let queue = DispatchQueue(
        label: "keel.cache.reads",
        qos: .userInitiated,
        attributes: .concurrent
    )

    /// Does what may wait for the disk; cancelling the task does not end it.
    static func run<Value: Sendable>(
        by diskWork: DiskCacheTier.Configuration.DiskWork?,
        _ body: @escaping @Sendable () throws(CacheError) -> Value
    ) async throws(CacheError) -> Value {
        let outcome: Result<Value, CacheError> = await withCheckedContinuation { reader in
            let read = { @Sendable in
                reader.resume(returning: Result { () throws(CacheError) in try body() })
            }
            if let diskWork { diskWork(read) } else { queue.async(execute: read) }
        }
        return try outcome.get()
    }
}
