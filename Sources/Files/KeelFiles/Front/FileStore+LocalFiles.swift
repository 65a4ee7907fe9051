public import Foundation
internal import Synchronization

/// The progress of a file transfer.
public struct FileProgress: Hashable, Sendable {
    /// The number of bytes transferred.
    public var byteCount: Int
    /// The total number of bytes; nil if unknown.
    public var total: Int?

    /// Creates a progress.
    public init(byteCount: Int, total: Int?) {
        self.byteCount = byteCount
        self.total = total
    }

    /// The completed fraction, from 0 to 1; nil if the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total == 0 ? 1 : min(1, Double(byteCount) / Double(total))
    }
}

extension FileStore {
    /// Writes a file on disk to the store, replacing an existing one.
    ///
    /// - Parameters:
    ///   - file: The file on disk, which must not change meanwhile.
    ///   - path: The path in the store.
    ///   - options: The metadata to store, and the checks to make.
    ///   - progress: Called after each piece with the number of bytes that the store has taken, which starts over in a
    ///     retry.
    /// - Returns: The metadata of the new file.
    /// - Throws: ``FileStoreError``, with the code `sourceFailed` if the file cannot be read.
    @discardableResult @concurrent
    public func write(
        contentsOf file: URL,
        to path: FileStorePath,
        options: FileWriteOptions = FileWriteOptions(),
        progress: (@Sendable (FileProgress) -> Void)? = nil
    ) async throws(FileStoreError) -> FileMetadata {
        try await write(
            try LocalFileTransfer.content(of: file),
            to: path,
            options: options,
            progress: progress
        )
    }

    /// Downloads a file to disk, replacing an existing one when the download is complete.
    ///
    /// The new file has the permissions of the one that it replaces, and is on the disk when the call returns.
    ///
    /// - Parameters:
    ///   - path: The path in the store.
    ///   - file: The location on disk, whose folder must exist.
    ///   - progress: Called after each piece with the number of bytes received.
    /// - Returns: The metadata of the file.
    /// - Throws: ``FileStoreError``, with the code `writeFailed`, `diskFull` or `permissionDenied` if the file cannot
    ///   be written; an existing file is then unchanged.
    @discardableResult @concurrent
    public func download(
        _ path: FileStorePath,
        to file: URL,
        progress: (@Sendable (FileProgress) -> Void)? = nil
    ) async throws(FileStoreError) -> FileMetadata {
        let reading = try await open(path)
        var content = reading.content
        if let progress { content = content.reporting(progress, of: reading.range.count) }
        try await LocalFileTransfer.write(content, to: file)
        return reading.metadata
    }
}

extension FileContent {
    func reporting(
        _ progress: @escaping @Sendable (FileProgress) -> Void,
        of total: Int?
    ) -> FileContent {
        FileContent(length: length, isReplayable: isReplayable) { () async throws(FileStoreError) in
            let reader = try await open()
            // Each reading counts from zero, because a store that retries starts over.
            let count = ByteCount()
            return FileReader { () async throws(FileStoreError) in
                guard let piece = try await reader.next() else { return nil }
                progress(FileProgress(byteCount: count.add(piece.count), total: total))
                return piece
            }
        }
    }
}

private final class ByteCount: Sendable {
    private let count = Mutex(0)

    func add(_ number: Int) -> Int {
        count.withLock { count in
            count += number
            return count
        }
    }
}
