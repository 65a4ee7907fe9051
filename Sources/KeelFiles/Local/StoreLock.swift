internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What puts the last steps of changes in a row: within the process and between processes.
///
/// It is held for a few calls on names, and never while the bytes of a file are written. Where a change
/// has to survive a power failure, it is held until its folder is synchronised.
///
/// Another process that was stopped while it held the lock, by a debugger for example, is waited for
/// no longer than ``patience``.
final class StoreLock: Sendable {
    /// How often the lock is asked for, a millisecond apart, before the call fails.
    static let patience = 10_000

    private let file: Mutex<Descriptor>
    private let patience: Int

    init(_ file: Descriptor, patience: Int = patience) {
        self.file = Mutex(file)
        self.patience = patience
    }

    func hold<Value>(
        _ body: () throws(FileStoreError) -> sending Value
    ) throws(FileStoreError) -> Value {
        try file.withLock { file throws(FileStoreError) in
            try lock(file)
            defer { _ = flock(file.number, LOCK_UN) }
            return try body()
        }
    }

    private func lock(_ file: Descriptor) throws(FileStoreError) {
        var left = patience
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK:
                guard left > 0 else {
                    throw FileStoreError(
                        .timeout,
                        "Another process has kept the lock of the store; nothing was changed."
                    )
                }
                left -= 1
                var pause = timespec(tv_sec: 0, tv_nsec: 1_000_000)
                nanosleep(&pause, nil)
            // Where a volume has no such locks, tasks of this process still take turns.
            default: return
            }
        }
    }
}
