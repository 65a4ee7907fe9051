import Foundation
import KeelFiles

/// A file that a folder's store and a plain file handle write and read with the same durability: each waits for the
/// disk before it reports completion.
struct LocalFiles: Sendable {
    private static let pieceByteCount = 256 << 10

    private let folder: WorkFolder
    private let pieces: [[UInt8]]
    private let byteCount: Int
    private let store: FileStore
    private let unchecked: FileStore

    init(_ options: Options, byteCount: Int) throws {
        folder = try WorkFolder("files", in: options.folder)
        self.byteCount = byteCount
        var random = Generator(seed: 11)
        let piece = (0..<min(byteCount, Self.pieceByteCount)).map { _ in
            UInt8(truncatingIfNeeded: random.next())
        }
        pieces = (0..<max(1, byteCount / Self.pieceByteCount)).map { _ in piece }
        store = FileStore(try LocalFileStoreAdapter(folder: folder.path("store")))
        var settings = LocalFileStoreAdapter.Configuration()
        settings.verifiesChecksums = false
        unchecked = FileStore(
            try LocalFileStoreAdapter(folder: folder.path("store"), configuration: settings)
        )
    }

    /// Returns the milliseconds of one put.
    @concurrent
    func keelPut(_ count: Int) async throws -> Double {
        let pieces = pieces
        let content = FileContent(length: byteCount, isReplayable: true) {
            () throws(FileStoreError) in
            let next = PieceSource(pieces)
            return FileReader { () async throws(FileStoreError) in next.next() }
        }
        return try await Timing.perCall(count) { _ in
            try await store.write(content, to: "file")
        } / 1000
    }

    /// Returns the milliseconds of writing a temporary file, synchronizing, renaming and synchronizing the folder.
    @concurrent
    func handlePut(_ count: Int) async throws -> Double {
        let handles = FileHandleFiles(folder.path("plain"))
        return try Timing.perCall(count) { _ in try handles.put(pieces) } / 1000
    }

    /// Returns the milliseconds of reading the file in pieces.
    @concurrent
    func keelGet(comparing: Bool) async throws -> Double {
        let store = comparing ? store : unchecked
        if try await !store.exists("file") { _ = try await keelPut(1) }
        var count = 0
        let time = try await Timing.perCall(1) { _ in
            for try await piece in try await store.open("file").content { count += piece.count }
        }
        guard count == byteCount else { throw Flaw("Not all of the file was read.") }
        return time / 1000
    }

    /// Returns the same for a file handle.
    @concurrent
    func handleGet() async throws -> Double {
        let handles = FileHandleFiles(folder.path("plain"))
        if !handles.isThere { try handles.put(pieces) }
        var count = 0
        let time = try Timing.perCall(1) { _ in
            count = try handles.get(Self.pieceByteCount)
        }
        guard count == byteCount else { throw Flaw("Not all of the file was read.") }
        return time / 1000
    }
}
