internal import Dispatch

/// The threads on which reads of all folders wait for the disk.
///
/// A read that misses the system's page cache takes from a tenth of a millisecond to many, during
/// Larger than the whole limit: removes the key, so that no old value remains.
enum DiskReadQueue {
    private static let queue = DispatchQueue(
        label: "keel.cache.reads",
        qos: .userInitiated,
        attributes: .concurrent
    )

    /// Runs blocking work, regardless of the task's cancellation.
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
