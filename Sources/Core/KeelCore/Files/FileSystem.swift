#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// The file operations that crash-safe code needs.
///
/// `SimulatedFileSystem` of KeelTestSupport records each step and can stop after any of them, to test what survives a
/// crash. Paths are complete paths with `/`; calls block briefly.
package protocol FileSystem: Sendable {
    /// Creates a folder and its parents, unless they exist.
    func makeFolder(_ path: String) throws(FileSystemError)

    /// Returns the names in a folder, in any order.
    func names(in folder: String) throws(FileSystemError) -> [String]

    /// Returns the size of a file in bytes, or nil if it does not exist.
    func size(of path: String) throws(FileSystemError) -> Int?

    /// Opens a file, which is closed with its last reference.
    func open(_ path: String, for access: FileAccess) throws(FileSystemError) -> any OpenFile

    /// Atomically renames a file, replacing the target.
    func rename(_ path: String, to newPath: String) throws(FileSystemError)

    /// Removes a file; open files remain readable.
    func remove(_ path: String) throws(FileSystemError)

    /// Makes new, renamed and removed names in a folder survive a power failure.
    func syncFolder(_ path: String) throws(FileSystemError)

    /// Acquires a lock that ends with its last reference or with the process, on a file that is created if missing.
    ///
    /// - Throws: ``FileSystemError`` of the kind `busy` if the lock is held, including by another part of this process.
    func lock(_ path: String) throws(FileSystemError) -> any FileLock
}

package enum FileAccess: Hashable, Sendable {
    /// Reading only; the file must exist.
    case reading
    /// Reading and writing; the file must exist.
    case writing
    /// Reading and writing a new file; the name must not exist.
    case creating
    /// Reading and appending, possibly concurrently with others; the file is created if missing.
    ///
    /// While the file is open, ``FileSystem/lock(_:)`` of its path is refused.
    case appending
}

/// A lock that is held as long as this object is referenced.
package protocol FileLock: AnyObject, Sendable {
    /// Returns whether a path still refers to the locked file, which its holder may have removed.
    func isStill(at path: String) -> Bool
}

package protocol OpenFile: AnyObject, Sendable {
    func size() throws(FileSystemError) -> Int

    /// Reads bytes, fewer than requested only at the end of the file.
    func read(at offset: Int, count: Int) throws(FileSystemError) -> [UInt8]

    /// Writes all bytes; if it throws, any part of them may have been written.
    func write(_ bytes: [UInt8], at offset: Int) throws(FileSystemError)

    /// Atomically appends all bytes, after those that others have appended.
    ///
    /// The file must be open for ``FileAccess/appending``. If it throws, any part of the bytes may have been written.
    func append(_ bytes: UnsafeRawBufferPointer) throws(FileSystemError)

    /// Returns the time of the last change in microseconds since 1970, or nil if unknown.
    func modificationTime() throws(FileSystemError) -> Int64?

    /// Truncates the file, or extends it with zeros.
    func truncate(to size: Int) throws(FileSystemError)

    /// Gives the file the permissions of another one, and its group and its owner as far as the process may.
    func takeAccess(of path: String)

    /// Makes the bytes written so far survive a power failure.
    func sync() throws(FileSystemError)

    /// Returns whether a path still refers to this file.
    func isStill(at path: String) -> Bool
}

extension OpenFile {
    package func takeAccess(of path: String) {}
}

extension FileSystem {
    package func removeIfThere(_ path: String) throws(FileSystemError) {
        do throws(FileSystemError) {
            try remove(path)
        } catch {
            guard error.kind == .notFound else { throw error }
        }
    }

    /// Returns the first bytes of a file, by default all; nil if it does not exist.
    package func contents(
        of path: String,
        upTo limit: Int = .max
    ) throws(FileSystemError) -> [UInt8]? {
        guard let file = try openIfThere(path) else { return nil }
        return try file.read(at: 0, count: min(try file.size(), limit))
    }

    package func openIfThere(_ path: String) throws(FileSystemError) -> (any OpenFile)? {
        do throws(FileSystemError) {
            return try open(path, for: .reading)
        } catch {
            guard error.kind == .notFound else { throw error }
            return nil
        }
    }

    /// Writes a temporary file, in place of what a crash left of it, and renames it over another one.
    ///
    /// With `keepsAccess`, those who can read and write the replaced file can do so with the new one. If it throws, the
    /// replaced file is unchanged. The new name survives a power failure once the folder is synced.
    package func replaceFile(
        _ path: String,
        by newPath: String,
        with bytes: [UInt8],
        keepsAccess: Bool = false
    ) throws(FileSystemError) {
        try removeIfThere(newPath)
        let file = try open(newPath, for: .creating)
        try file.write(bytes, at: 0)
        if keepsAccess { file.takeAccess(of: path) }
        try file.sync()
        try rename(newPath, to: path)
    }
}

extension FileSystem {
    /// Acquires a lock like ``lock(_:)``, waiting for its holder; throws `busy` when the time is over.
    ///
    /// It blocks its thread, and is intended for locks that are held for a few file operations.
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
