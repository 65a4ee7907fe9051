import KeelCache
import Synchronization

/// A reader of part of a stored file, in pieces; used by one task at a time.
final class FileCursor: Sendable {
    private static let pieceSize = 64 << 10

    private let file: any CacheFile
    private let rest: Mutex<Range<Int>>

    init(_ file: any CacheFile, _ range: Range<Int>) {
        self.file = file
        rest = Mutex(range)
    }

    func next() throws(CacheError) -> ArraySlice<UInt8>? {
        let wanted = rest.withLock { rest in
            let piece = rest.prefix(Self.pieceSize)
            rest = rest.dropFirst(piece.count)
            return piece
        }
        guard !wanted.isEmpty else { return nil }
        let bytes = try file.read(from: wanted.lowerBound, upTo: wanted.count)
        guard bytes.count == wanted.count else {
            throw CacheError(.decodingFailed, "The file was truncated.")
        }
        return bytes[...]
    }
}
