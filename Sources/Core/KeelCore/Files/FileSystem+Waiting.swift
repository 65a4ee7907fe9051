#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

extension FileSystem {
    /// Acquires a lock, waiting for its holder.
    ///
    /// This method blocks its thread, and is intended for locks that are held for a few file operations.
    ///
    /// - Parameters:
    ///   - path: The file to lock, which is created if missing.
    ///   - milliseconds: The maximum wait.
    /// - Returns: The lock.
    /// - Throws: ``FileSystemError`` of the kind `busy` when the time is over.
    package func lock(
        _ path: String,
        waitingUpTo milliseconds: Int
    ) throws(FileSystemError) -> any FileLock {
        var left = milliseconds
        while true {
            do throws(FileSystemError) {
                return try lock(path)
            } catch {
                guard error.kind == .busy, left > 0 else { throw error }
            }
            left -= 1
            var pause = timespec(tv_sec: 0, tv_nsec: 1_000_000)
            nanosleep(&pause, nil)
        }
    }
}
