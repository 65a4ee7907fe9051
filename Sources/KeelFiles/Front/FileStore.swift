#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The files of an app, in whatever keeps them.
///
/// ```swift
/// let files = FileStore(try LocalFileStoreAdapter(folder: "/var/lib/app/files"))
/// try await files.put(jpeg, at: "photos/\(id).jpg")
/// let photo = try await files.get("photos/\(id).jpg")
/// ```
///
/// A file is put whole: who reads at the same time finds the old one or the new one, and after a
/// crash one of them is there. Reading what is not there throws `fileNotFound`, deleting it
/// succeeds. Folders are not made: they are what paths have in common.
public struct FileStore: Sendable {
    /// How many bytes a call takes into memory, unless it says another number: 64 MiB.
    public static let usualLimit = 64 << 20

    let adapter: any FileStoreAdapter

    /// Creates a front of an adapter.
    ///
    /// - Parameter adapter: What keeps the files.
    public init(_ adapter: any FileStoreAdapter) { self.adapter = adapter }

    /// What the store can do.
    public var capabilities: FileStoreCapabilities { adapter.capabilities }

    // MARK: Putting

    /// Puts a file, in place of what was there.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - path: The file.
    ///   - options: What is kept with it, and what is checked.
    /// - Returns: The metadata of the new file.
    /// - Throws: ``FileStoreError``; what was there before is then still there, unless the code is
    ///   `timeout` or `unavailable`.
    @discardableResult @concurrent
    public func put(
        _ data: Data,
        at path: FileStorePath,
        options: FileWriteOptions = FileWriteOptions()
    ) async throws(FileStoreError) -> FileMetadata {
        try await put(FileContent(data), at: path, options: options)
    }

    /// Puts a file whose bytes come piece by piece, in place of what was there.
    ///
    /// - Parameters:
    ///   - content: The bytes.
    ///   - path: The file.
    ///   - options: What is kept with it, and what is checked.
    ///   - progress: Is told after each piece how many bytes the store has taken.
    /// - Returns: The metadata of the new file.
    /// - Throws: ``FileStoreError``, with the code `sourceFailed` where the bytes end in an error,
    ///   and `checksumMismatch` where there are more or fewer than they said.
    @discardableResult @concurrent
    public func put(
        _ content: FileContent,
        at path: FileStorePath,
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

    // MARK: Getting

    /// Returns the bytes of a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - range: Which part of it.
    ///   - limit: How many bytes are taken into memory at most.
    /// - Returns: The bytes.
    /// - Throws: ``FileStoreError``, with the code `fileNotFound` where there is none, `tooLarge`
    ///   where there are more bytes, `damaged` where they are not those that were put.
    @concurrent
    public func get(
        _ path: FileStorePath,
        range: FileRange = .all,
        upTo limit: Int = usualLimit
    ) async throws(FileStoreError) -> Data {
        let reading = try await open(path, range: range)
        return Data(try await reading.content.collect(upTo: limit))
    }

    /// Returns the bytes of a file, nil where there is none.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: How many bytes are taken into memory at most.
    /// - Returns: The bytes, or nil.
    /// - Throws: ``FileStoreError``.
    @concurrent
    public func find(
        _ path: FileStorePath,
        upTo limit: Int = usualLimit
    ) async throws(FileStoreError) -> Data? {
        do throws(FileStoreError) {
            return try await get(path, upTo: limit)
        } catch {
            guard error.code == .fileNotFound else { throw error }
            return nil
        }
    }

    /// Begins to read a file, whose bytes come piece by piece.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - range: Which part of it.
    ///   - version: The version that it must have; nil is any.
    /// - Returns: The metadata, and the bytes as they are asked for.
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

    /// What is known of a file.
    ///
    /// - Parameter path: The file.
    /// - Returns: Its metadata.
    /// - Throws: ``FileStoreError``, with the code `fileNotFound` where there is none.
    @concurrent
    public func metadata(of path: FileStorePath) async throws(FileStoreError) -> FileMetadata {
        guard let metadata = try await findMetadata(of: path) else {
            throw FileStoreError.notFound(path)
        }
        return metadata
    }

    /// What is known of a file, nil where there is none.
    ///
    /// - Parameter path: The file.
    /// - Returns: Its metadata, or nil.
    /// - Throws: ``FileStoreError``.
    @concurrent
    public func findMetadata(
        of path: FileStorePath
    ) async throws(FileStoreError) -> FileMetadata? {
        try path.check()
        try FileStoreError.checkCancellation()
        return try await adapter.metadata(of: path)
    }

    /// Whether there is a file.
    ///
    /// - Parameter path: The file.
    /// - Returns: Whether there is one.
    /// - Throws: ``FileStoreError``.
    @concurrent
    public func exists(_ path: FileStorePath) async throws(FileStoreError) -> Bool {
        try await findMetadata(of: path) != nil
    }

    // MARK: Changing places

    /// Makes a second file of one, with its content type and attributes.
    ///
    /// - Parameters:
    ///   - source: The file that is there.
    ///   - target: Where the second one is.
    ///   - condition: What has to be true of the file at the target.
    /// - Returns: The metadata of the second file.
    /// - Throws: ``FileStoreError``: `fileNotFound`, `conditionFailed`, `pathTaken`.
    @discardableResult @concurrent
    public func copy(
        _ source: FileStorePath,
        to target: FileStorePath,
        if condition: FileCondition = .none
    ) async throws(FileStoreError) -> FileMetadata {
        try await transfer(.init(from: source, to: target, if: condition))
    }

    /// Gives a file another path.
    ///
    /// - Parameters:
    ///   - source: The file that is there.
    ///   - target: Where it is afterwards.
    ///   - condition: What has to be true of the file at the target.
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

    /// Removes a file; where there is none, nothing happens.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - condition: What has to be true of it.
    /// - Returns: Whether there was one.
    /// - Throws: ``FileStoreError``, with the code `conditionFailed` where it is not as expected.
    @discardableResult @concurrent
    public func delete(
        _ path: FileStorePath,
        if condition: FileCondition = .none
    ) async throws(FileStoreError) -> Bool {
        try path.check()
        try FileStoreError.checkCancellation()
        return try await adapter.delete(path, if: condition)
    }

    /// Follows the changes of files in a folder and the folders inside of it, from now on.
    ///
    /// - Parameter folder: The folder.
    /// - Returns: The changes; they end with the task that reads them.
    /// - Throws: ``FileStoreError`` with the code `unsupported` where the store cannot tell: its
    ///   capabilities then lack `watching`.
    @concurrent
    public func changes(
        in folder: FileStoreFolder = .root
    ) async throws(FileStoreError) -> FileChanges {
        try folder.check()
        return try await adapter.changes(in: folder)
    }
}

extension FileStoreError {
    /// What reading a file throws that is not there.
    package static func notFound(_ path: FileStorePath) -> FileStoreError {
        FileStoreError(.fileNotFound, "There is no file “\(path)”.")
    }
}
