internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The bytes of a file, either in memory or produced piece by piece on demand.
///
/// ```swift
/// for try await piece in reading.content { hash.update(piece) }
/// ```
public struct FileContent: Sendable {
    /// A function that opens a reader at the first byte.
    public typealias Open = @Sendable () async throws(FileStoreError) -> FileReader

    /// The number of bytes; nil if unknown before the end.
    public let length: Int?
    /// Whether the bytes can be read more than once, as a retry requires.
    public let isReplayable: Bool
    /// Opens a reader at the first byte.
    public let open: Open

    /// Creates a content that is produced while it is read.
    ///
    /// - Parameters:
    ///   - length: The number of bytes; nil if unknown.
    ///   - isReplayable: Whether `open` produces the same bytes each time.
    ///   - open: Opens a reader at the first byte.
    public init(length: Int?, isReplayable: Bool, open: @escaping Open) {
        self.length = length
        self.isReplayable = isReplayable
        self.open = open
    }

    /// Creates a content of bytes in memory.
    public init(_ bytes: [UInt8]) {
        self.init(length: bytes.count, isReplayable: true) { () throws(FileStoreError) in
            FileReader(pieces: bytes.isEmpty ? [] : [bytes])
        }
    }

    /// Creates a content of data in memory.
    public init(_ data: Data) { self.init(Array(data)) }

    /// Creates a content of a sequence that can be read once; a second reading throws `contentConsumed`.
    ///
    /// - Parameters:
    ///   - pieces: The pieces; an error of the sequence becomes the cause of `sourceFailed`.
    ///   - length: The number of bytes; nil if unknown.
    public init<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces,
        length: Int? = nil
    ) where Pieces.Element == [UInt8] {
        let isUnread = Atomic<Bool>(true)
        self.init(length: length, isReplayable: false) { () throws(FileStoreError) in
            guard isUnread.exchange(false, ordering: .relaxed) else {
                throw FileStoreError(.contentConsumed, "The content has already been read.")
            }
            return FileReader(sequence: pieces)
        }
    }
}

extension FileContent: AsyncSequence {
    public typealias Element = [UInt8]
    public typealias Failure = FileStoreError

    /// The iterator of a content's pieces.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private let open: Open
        private var reader: FileReader?

        init(_ open: @escaping Open) { self.open = open }

        public mutating func next() async throws(FileStoreError) -> [UInt8]? {
            if let reader { return try await reader.next() }
            let reader = try await open()
            self.reader = reader
            return try await reader.next()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(FileStoreError) -> [UInt8]? {
            try await next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(open) }

    /// Returns all bytes in memory.
    ///
    /// - Throws: ``FileStoreError``, with the code `tooLarge` if there are more.
    public func collect(upTo limit: Int) async throws(FileStoreError) -> [UInt8] {
        if let length, length > limit { throw Self.tooLarge(limit) }
        let reader = try await open()
        var bytes: [UInt8] = []
        while let piece = try await reader.next() {
            guard bytes.count + piece.count <= limit else { throw Self.tooLarge(limit) }
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
        }
        return bytes
    }

    private static func tooLarge(_ limit: Int) -> FileStoreError {
        FileStoreError(.tooLarge, "The file has more than \(limit) bytes.")
    }

    package func inspected(
        _ inspect: @escaping @Sendable ([UInt8]) -> Void
    ) -> FileContent {
        FileContent(length: length, isReplayable: isReplayable) { () async throws(FileStoreError) in
            let reader = try await open()
            return FileReader { () async throws(FileStoreError) in
                let piece = try await reader.next()
                if let piece { inspect(piece) }
                return piece
            }
        }
    }
}

/// A reader of bytes, piece by piece, for one task at a time.
public struct FileReader: Sendable {
    private let read: @Sendable () async throws(FileStoreError) -> [UInt8]?

    /// Creates a reader.
    ///
    /// - Parameter next: Returns the next piece, which is not empty, or nil at the end.
    public init(_ next: @escaping @Sendable () async throws(FileStoreError) -> [UInt8]?) {
        read = next
    }

    /// Returns the next piece, which is never empty, or nil at the end.
    ///
    /// - Throws: ``FileStoreError``; no piece follows an error.
    public func next() async throws(FileStoreError) -> [UInt8]? { try await read() }
}

/// A file that is being read.
public struct FileReading: Sendable {
    /// The metadata of the file, independent of the range.
    public let metadata: FileMetadata
    /// The range of bytes that is read.
    public let range: Range<Int>
    /// The bytes.
    public let content: FileContent

    /// Creates a reading.
    public init(metadata: FileMetadata, range: Range<Int>, content: FileContent) {
        self.metadata = metadata
        self.range = range
        self.content = content
    }
}

extension FileContent {
    /// Reads the whole content piece by piece, and returns its checksum.
    ///
    /// - Throws: ``FileStoreError``: the error of reading, or `unsupported` if the algorithm is not available.
    public func checksum(
        by algorithm: FileChecksum.Algorithm = .crc32c
    ) async throws(FileStoreError) -> FileChecksum {
        var hash = try FileHash(algorithm)
        let reader = try await open()
        while let piece = try await reader.next() { hash.update(piece) }
        return hash.checksum
    }
}
