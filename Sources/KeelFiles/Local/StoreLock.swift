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
final class StoreLock: Sendable {
    private let file: Mutex<Descriptor>

    init(_ file: Descriptor) { self.file = Mutex(file) }

    func hold<Value, E: Error>(_ body: () throws(E) -> sending Value) throws(E) -> Value {
        try file.withLock { file throws(E) in
            // Where a volume has no such locks, tasks of this process still take turns.
            while flock(file.number, LOCK_EX) != 0, errno == EINTR {}
            defer { _ = flock(file.number, LOCK_UN) }
            return try body()
        }
    }
}
