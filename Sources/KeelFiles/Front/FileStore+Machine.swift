public import Foundation
internal import Synchronization

/// How far a transfer of a file has come.
public struct FileProgress: Hashable, Sendable {
    /// How many bytes went through.
    public var byteCount: Int
    /// How many there are; nil if that is not known.
    public var total: Int?

    /// Creates a progress.
    ///
    /// - Parameters:
    ///   - byteCount: How many bytes went through.
    ///   - total: How many there are.
    public init(byteCount: Int, total: Int?) {
        self.byteCount = byteCount
        self.total = total
    }

    /// The part that went through, 0 to 1; nil if the total is not known.
    public var fraction: Double? {
        guard let total else { return nil }
        return total == 0 ? 1 : min(1, Double(byteCount) / Double(total))
    }
}

extension FileStore {
    /// Puts a file of the machine, in place of what was there.
    ///
    /// - Parameters:
    ///   - file: The file of the machine; it must not change meanwhile.
    ///   - path: The file of the store.
    ///   - options: What is kept with it, and what is checked.
    ///   - progress: Is told after each piece how many bytes the store has taken.
    /// - Returns: The metadata of the new file.
    /// - Throws: ``FileStoreError``, with the code `sourceFailed` where the file cannot be read.
    @discardableResult @concurrent
    public func put(
        contentsOf file: URL,
        at path: FileStorePath,
        options: FileWriteOptions = FileWriteOptions(),
        progress: (@Sendable (FileProgress) -> Void)? = nil
    ) async throws(FileStoreError) -> FileMetadata {
        try await put(
            try MachineFile.content(of: file),
            at: path,
            options: options,
            progress: progress
        )
    }

    /// Writes a file to the machine, in place of what was there, when all of it has come.
    ///
    /// - Parameters:
    ///   - path: The file of the store.
    ///   - file: Where it is to be on the machine; its folder must be there.
    ///   - progress: Is told after each piece how many bytes are there.
    /// - Returns: The metadata of the file.
    /// - Throws: ``FileStoreError``, with the code `writeFailed` where the file cannot be written;
    ///   what was there before is then still there.
    @discardableResult @concurrent
    public func download(
        _ path: FileStorePath,
        to file: URL,
        progress: (@Sendable (FileProgress) -> Void)? = nil
    ) async throws(FileStoreError) -> FileMetadata {
        let reading = try await open(path)
        var content = reading.content
        if let progress { content = content.reporting(progress, of: reading.range.count) }
        try await MachineFile.write(content, to: file)
        return reading.metadata
    }
}

extension FileContent {
    /// Tells of each piece.
    func reporting(
        _ progress: @escaping @Sendable (FileProgress) -> Void,
        of total: Int?
    ) -> FileContent {
        FileContent(length: length, isReplayable: isReplayable) { () async throws(FileStoreError) in
            let reader = try await open()
            // Of this reading: a store that begins anew counts anew.
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
