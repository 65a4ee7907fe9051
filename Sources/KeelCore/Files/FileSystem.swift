/// The few calls on files that crash-safe code is made of.
///
/// The real one is ``DiskFileSystem``. `SimulatedFileSystem` of KeelTestKit records each step and
/// can stop the world after any of them, which is how a log, a journal or a file store is shown to
/// survive it. Paths are whole paths with `/`; calls block, and are short.
package protocol FileSystem: Sendable {
    /// Makes a folder and those above it; one that is there already is fine.
    func makeFolder(_ path: String) throws(FileSystemError)

    /// The names of what is in a folder, in no order.
    func names(in folder: String) throws(FileSystemError) -> [String]

    /// The length of a file in bytes, nil when there is none.
    func size(of path: String) throws(FileSystemError) -> Int?

    /// Opens a file; it is closed when the last one lets go of it.
    func open(_ path: String, for access: FileAccess) throws(FileSystemError) -> any OpenFile

    /// Gives a file another name in one step, in place of what has that name.
    func rename(_ path: String, to newPath: String) throws(FileSystemError)

    /// Removes a file; who has it open goes on reading it.
    func remove(_ path: String) throws(FileSystemError)

    /// Makes new, renamed and removed names in a folder survive a power failure.
    func syncFolder(_ path: String) throws(FileSystemError)

    /// Takes a lock that ends with its last user, or with the process however that ends.
    ///
    /// - Parameter path: The file to lock, which is made where it is missing.
    /// - Returns: What holds the lock.
    /// - Throws: ``FileSystemError`` with the kind `busy` when somebody else holds it, another part
    ///   of this process included.
    func lock(_ path: String) throws(FileSystemError) -> any FileLock
}

/// What a file is opened for.
package enum FileAccess: Hashable, Sendable {
    /// Reading only; it has to be there.
    case reading
    /// Reading and writing; it has to be there.
    case writing
    /// Reading and writing a new file; there must be none of that name.
    case creating
    /// Reading a file and adding to its end, whoever else adds to it; it is made where it is
    /// missing.
    ///
    /// As long as it is open, ``FileSystem/lock(_:)`` of its path is refused.
    case appending
}

/// A lock that is held as long as somebody holds this.
package protocol FileLock: AnyObject, Sendable {
    /// Whether this path still leads to the locked file.
    ///
    /// Who removes a lock file while it holds the lock has others wait on a file that has no name
    /// any more; they find out here, and lock the new one.
    func isStill(at path: String) -> Bool
}

/// A file that is open.
package protocol OpenFile: AnyObject, Sendable {
    /// The length in bytes.
    func size() throws(FileSystemError) -> Int

    /// Reads bytes, fewer than asked for only at the end of the file.
    func read(at offset: Int, count: Int) throws(FileSystemError) -> [UInt8]

    /// Writes all bytes; when it throws, any part of them may be there.
    func write(_ bytes: [UInt8], at offset: Int) throws(FileSystemError)

    /// Adds all bytes to the end in one step, behind what others have added.
    ///
    /// For files opened for ``FileAccess/appending``. When it throws, any part of them may be there.
    func append(_ bytes: UnsafeRawBufferPointer) throws(FileSystemError)

    /// When the file was last changed, in microseconds since 1970; nil where that is not known.
    func modificationTime() throws(FileSystemError) -> Int64?

    /// Cuts the file off, or fills it up with zeros.
    func truncate(to size: Int) throws(FileSystemError)

    /// Makes the bytes written before survive a power failure.
    func sync() throws(FileSystemError)

    /// Whether this path still leads to this file, and not to another or nowhere.
    func isStill(at path: String) -> Bool
}
