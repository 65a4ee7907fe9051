import KeelCore
import KeelHTTP
import Synchronization

/// A reader of a range of a file that must not change; used by one task at a time.
final class PieceReader: Sendable {
    private struct State {
        var file: (any OpenFile)?
        var offset: Int64
    }

    private let path: String
    private let files: any FileSystem
    private let piece: UploadPiece
    private let source: UploadSource
    private let queue: DiskQueue
    private let state: Mutex<State>

    private static let blockSize = 256 * 1024

    init(
        _ path: String,
        _ files: any FileSystem,
        _ piece: UploadPiece,
        _ source: UploadSource,
        _ queue: DiskQueue
    ) {
        self.path = path
        self.files = files
        self.piece = piece
        self.source = source
        self.queue = queue
        state = Mutex(State(offset: piece.offset))
    }

    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        do throws(TransferError) {
            return try await queue.run { () throws(TransferError) in try self.read()?[...] }
        } catch {
            throw TransportError(.bodyProducerFailed, cause: error)
        }
    }

    private func read() throws(TransferError) -> [UInt8]? {
        let (known, offset) = state.withLock { ($0.file, $0.offset) }
        guard offset < piece.end else { return nil }
        let count = Int(min(piece.end - offset, Int64(Self.blockSize)))
        let file: any OpenFile
        let bytes: [UInt8]
        let isUnchanged: Bool
        do throws(FileSystemError) {
            if let known { file = known } else { file = try files.open(path, for: .reading) }
            bytes = try file.read(at: Int(offset), count: count)
            // Checked after the read, to detect changes before and during it.
            isUnchanged = try source.fits(file)
        } catch {
            throw TransferError(error, source: true)
        }
        guard bytes.count == count, isUnchanged else { throw TransferError(.sourceChanged) }
        state.withLock { state in
            state.file = file
            state.offset = offset + Int64(count)
        }
        return bytes
    }
}
