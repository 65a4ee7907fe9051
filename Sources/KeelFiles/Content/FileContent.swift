#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The bytes of a file: at hand, or produced piece by piece while they are asked for.
///
/// ```swift
/// for try await piece in reading.content { hash.update(piece) }
/// ```
public struct FileContent: Sendable {
    /// A function that begins the bytes from the first.
    public typealias Open = @Sendable () async throws(FileStoreError) -> FileReader

    /// How many bytes there are; nil if that is not known before their end.
    public let length: Int?
    /// Whether the bytes can be read more than once; a store that has to try again asks for it.
    public let isReplayable: Bool
    /// Begins the bytes from the first.
    public let open: Open

    /// Creates a content that is produced while it is read.
    ///
    /// - Parameters:
    ///   - length: How many bytes there will be; nil if that is not known.
    ///   - isReplayable: Whether `open` gives the same bytes each time.
    ///   - open: Begins the bytes from the first.
    public init(length: Int?, isReplayable: Bool, open: @escaping Open) {
        self.length = length
        self.isReplayable = isReplayable
        self.open = open
    }

    /// Creates a content of bytes in memory.
    ///
    /// - Parameter bytes: The bytes.
    public init(_ bytes: [UInt8]) {
        self.init(length: bytes.count, isReplayable: true) { () throws(FileStoreError) in
            FileReader(pieces: bytes.isEmpty ? [] : [bytes])
        }
    }

    /// Creates a content of data in memory.
    ///
    /// - Parameter data: The data.
    public init(_ data: Data) { self.init(Array(data)) }

    /// Creates a content of pieces that can be had once.
    ///
    /// - Parameters:
    ///   - pieces: The pieces; an error of theirs becomes the cause of `sourceFailed`.
    ///   - length: How many bytes there will be; nil if that is not known.
    public init<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces,
        length: Int? = nil
    ) where Pieces.Element == [UInt8] {
        let gate = OnceGate()
        self.init(length: length, isReplayable: false) { () throws(FileStoreError) in
            try gate.pass()
            return FileReader(sequence: pieces)
        }
    }
}

extension FileContent: AsyncSequence {
    public typealias Element = [UInt8]
    public typealias Failure = FileStoreError

    /// Reads the pieces of a content.
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

    /// Takes all bytes into memory.
    ///
    /// - Parameter limit: How many bytes are taken at most.
    /// - Returns: The bytes.
    /// - Throws: ``FileStoreError``, with the code `tooLarge` where there are more.
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

    /// The same bytes, looked at while they pass.
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

/// Reads bytes piece by piece, in one task at a time.
public struct FileReader: Sendable {
    private let read: @Sendable () async throws(FileStoreError) -> [UInt8]?

    /// Creates a reader.
    ///
    /// - Parameter next: Returns the next piece, which is not empty; nil at the end.
    public init(_ next: @escaping @Sendable () async throws(FileStoreError) -> [UInt8]?) {
        read = next
    }

    /// The next piece; nil at the end.
    ///
    /// - Returns: The piece; never an empty one.
    /// - Throws: ``FileStoreError``; nothing comes after it.
    public func next() async throws(FileStoreError) -> [UInt8]? { try await read() }
}

/// A file that is being read.
public struct FileReading: Sendable {
    /// What is known of the file, whichever part of it is read.
    public let metadata: FileMetadata
    /// Which bytes of the file are read.
    public let range: Range<Int>
    /// The bytes.
    public let content: FileContent

    /// Creates a reading.
    ///
    /// - Parameters:
    ///   - metadata: What is known of the file.
    ///   - range: Which bytes are read.
    ///   - content: The bytes.
    public init(metadata: FileMetadata, range: Range<Int>, content: FileContent) {
        self.metadata = metadata
        self.range = range
        self.content = content
    }
}
