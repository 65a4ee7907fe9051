#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A file store.
///
/// ```swift
/// let files = FileStore(try LocalFileStoreAdapter(folder: "/var/lib/app/files"))
/// try await files.write(jpeg, to: "photos/\(id).jpg")
/// let photo = try await files.read("photos/\(id).jpg")
/// ```
///
/// Writes are atomic: concurrent readers, and readers after a crash, see either the old or the new file. Reading a
/// missing file throws `fileNotFound`; deleting it succeeds. Folders need not be created: they are common prefixes of
/// paths.
///
/// Every call can throw ``FileStoreError`` with the code `invalidPath` for a path that breaks the rules of
/// ``FileStorePath``, `cancelled`, or a failure of the store, such as `permissionDenied`, `readFailed`, `timeout` or
/// `unavailable`.
public struct FileStore: Sendable {
    /// The default maximum number of bytes that a call reads into memory: 64 MiB.
    public static let defaultLimit = 64 << 20

    let adapter: any FileStoreAdapter

    /// Creates a store with an adapter.
    public init(_ adapter: any FileStoreAdapter) { self.adapter = adapter }

    /// The capabilities of the store.
    public var capabilities: FileStoreCapabilities { adapter.capabilities }

    // MARK: Writing

    /// Writes a file, replacing an existing one.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - path: The path of the file.
    ///   - options: The metadata to store, and the checks to make.
    /// - Returns: The metadata of the new file.
    /// - Throws: ``FileStoreError``; an existing file is then unchanged. With the codes `timeout` and `unavailable`,
    ///   and with `cancelled`, `unknown` or an invalid reply of a remote store, the write may have taken effect.
    @discardableResult @concurrent
    public func write(
        _ data: Data,
        to path: FileStorePath,
        options: FileWriteOptions = FileWriteOptions()
    ) async throws(FileStoreError) -> FileMetadata {
        try await write(FileContent(data), to: path, options: options)
    }

    /// Writes a file from a stream of bytes, replacing an existing one.
    ///
    /// - Parameters:
    ///   - content: The bytes.
    ///   - path: The path of the file.
    ///   - options: The metadata to store, and the checks to make.
    ///   - progress: Called after each piece with the number of bytes that the store has taken, which starts over in a
    ///     retry.
    /// - Returns: The metadata of the new file.
    /// - Throws: ``FileStoreError``, with the code `sourceFailed` if the content ends in an error, `checksumMismatch`
    ///   if its length or checksum differs from the announced one, or `conditionFailed` or `pathTaken`.
    @discardableResult @concurrent
    public func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions = FileWriteOptions(),
        progress: (@Sendable (FileProgress) -> Void)? = nil
    ) async throws(FileStoreError) -> FileMetadata {
        try path.check()
        try options.check()
        try FileStoreError.checkCancellation()
        var content = content
        if let progress {
            content = content.reporting(progress, of: content.length)
        }
        return try await adapter.write(content, to: path, options: options)
    }

    // MARK: Reading

    /// Returns the bytes of a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - range: The range to read.
    ///   - limit: The maximum number of bytes to read into memory.
    /// - Returns: The bytes.
    /// - Throws: ``FileStoreError``, with the code `fileNotFound` if the file does not exist, `rangeNotSatisfiable` if
    ///   the range begins beyond its end, `tooLarge` if the bytes exceed the limit, or `damaged` if they are not those
    ///   that were written.
    @concurrent
    public func read(
        _ path: FileStorePath,
        range: FileRange = .all,
        upTo limit: Int = defaultLimit
    ) async throws(FileStoreError) -> Data {
        let reading = try await open(path, range: range)
        return Data(try await reading.content.collect(upTo: limit))
    }

    /// Returns the bytes of a file, at most `limit`, or nil if it does not exist.
    ///
    /// - Throws: ``FileStoreError``, with the code `tooLarge` if the file exceeds the limit, or `damaged` if the bytes
    ///   are not those that were written.
    @concurrent
    public func readIfPresent(
        _ path: FileStorePath,
        upTo limit: Int = defaultLimit
    ) async throws(FileStoreError) -> Data? {
        do throws(FileStoreError) {
            return try await read(path, upTo: limit)
        } catch {
            guard error.code == .fileNotFound else { throw error }
            return nil
        }
    }

    /// Opens a file for reading, piece by piece.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - range: The range to read.
    ///   - version: The expected version, or nil for any.
    /// - Returns: The metadata and the bytes, which are read on demand.
    /// - Throws: ``FileStoreError``: `fileNotFound`, `conditionFailed`, `rangeNotSatisfiable`.
    @concurrent
    public func open(
        _ path: FileStorePath,
        range: FileRange = .all,
        ifVersion version: FileVersion? = nil
    ) async throws(FileStoreError) -> FileReading {
        try path.check()
        try FileStoreError.checkCancellation()
        return try await adapter.read(path, range: range, ifVersion: version)
    }

    // MARK: Metadata

    /// Returns the metadata of a file, or throws `fileNotFound` if it does not exist.
    @concurrent
    public func metadata(of path: FileStorePath) async throws(FileStoreError) -> FileMetadata {
        guard let metadata = try await metadataIfPresent(of: path) else {
            throw FileStoreError.notFound(path)
        }
        return metadata
    }

    /// Returns the metadata of a file, or nil if it does not exist.
    @concurrent
    public func metadataIfPresent(
        of path: FileStorePath
    ) async throws(FileStoreError) -> FileMetadata? {
        try path.check()
        try FileStoreError.checkCancellation()
        return try await adapter.metadata(of: path)
    }

    /// Returns whether a file exists.
    @concurrent
    public func exists(_ path: FileStorePath) async throws(FileStoreError) -> Bool {
        try await metadataIfPresent(of: path) != nil
    }

    // MARK: Copying and moving

    /// Copies a file, with its content type and attributes.
    ///
    /// - Parameters:
    ///   - source: The path of the existing file.
    ///   - target: The path of the copy.
    ///   - condition: The condition on the file at the target.
    /// - Returns: The metadata of the copy.
    /// - Throws: ``FileStoreError``: `fileNotFound`, `conditionFailed`, `pathTaken`.
    @discardableResult @concurrent
    public func copy(
        _ source: FileStorePath,
        to target: FileStorePath,
        if condition: FileCondition = .none
    ) async throws(FileStoreError) -> FileMetadata {
        try await transfer(.init(from: source, to: target, if: condition))
    }

    /// Moves a file to another path.
    ///
    /// - Parameters:
    ///   - source: The path of the existing file.
    ///   - target: The new path.
    ///   - condition: The condition on the file at the target.
    /// - Returns: The metadata of the file at its new path.
    /// - Throws: ``FileStoreError``: `fileNotFound`, `conditionFailed`, `pathTaken`.
    @discardableResult @concurrent
    public func move(
        _ source: FileStorePath,
        to target: FileStorePath,
        if condition: FileCondition = .none
    ) async throws(FileStoreError) -> FileMetadata {
        try await transfer(.init(from: source, to: target, isMove: true, if: condition))
    }

    private func transfer(
        _ request: FileTransferRequest
    ) async throws(FileStoreError) -> FileMetadata {
        try request.source.check()
        try request.target.check()
        try FileStoreError.checkCancellation()
        return try await adapter.transfer(request)
    }

    /// Removes a file, if it exists.
    ///
    /// - Returns: Whether the file existed.
    /// - Throws: ``FileStoreError``, with the code `conditionFailed` if the condition does not hold.
    @discardableResult @concurrent
    public func delete(
        _ path: FileStorePath,
        if condition: FileCondition = .none
    ) async throws(FileStoreError) -> Bool {
        try path.check()
        try FileStoreError.checkCancellation()
        return try await adapter.delete(path, if: condition)
    }

    /// Observes changes of files in a folder and its subfolders, from now on.
    ///
    /// - Returns: The changes, which end when the task that reads them is canceled or the store's folder is removed.
    /// - Throws: ``FileStoreError`` with the code `unsupported` if the store's capabilities lack `watching`, or
    ///   `unavailable` if a folder cannot be watched.
    @concurrent
    public func changes(
        in folder: FileStoreFolder = .root
    ) async throws(FileStoreError) -> FileChanges {
        try folder.check()
        return try await adapter.changes(in: folder)
    }
}

extension FileStoreError {
    package static func notFound(_ path: FileStorePath) -> FileStoreError {
        FileStoreError(.fileNotFound, "The file “\(path)” does not exist.")
    }
}
