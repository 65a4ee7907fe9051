#if Logging

internal import KeelCore
internal import KeelZlib

/// The lines of one log file, as far as they are whole.
final class LogLines {
    private static let pieceByteCount = 64 << 10
    /// Longer lines are not Keel's; they are given out in parts, which are no records.
    private static let longestLine = 16 << 20

    private let file: any OpenFile
    private let inflating: InflateStream?
    private var isInflating = false
    /// Where the next bytes of the file are; the largest number once none can be read any more.
    private var offset = 0
    /// Compressed bytes that were read and not used.
    private var compressed: ArraySlice<UInt8> = []
    private var bytes: ArraySlice<UInt8> = []
    /// How many bytes were searched for the end of a line in vain.
    private var searched = 0

    init(plain file: any OpenFile) {
        self.file = file
        inflating = nil
    }

    init(compressed file: any OpenFile) {
        self.file = file
        inflating = InflateStream()
    }

    func isStill(at path: String) -> Bool { file.isStill(at: path) }

    /// The next line without its end; nil if there is none, or if its end is still to come.
    func next() throws(FileSystemError) -> ArraySlice<UInt8>? {
        while true {
            let start = bytes.startIndex + searched
            if let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                defer {
                    bytes = bytes[(end + 1)...]
                    searched = 0
                }
                return bytes[..<end]
            }
            searched = bytes.count
            if searched >= Self.longestLine {
                defer {
                    bytes = []
                    searched = 0
                }
                return bytes
            }
            let piece = try piece()
            guard !piece.isEmpty else { return nil }
            bytes = bytes.isEmpty ? piece[...] : Array(bytes)[...] + piece
        }
    }

    private func piece() throws(FileSystemError) -> [UInt8] {
        guard let inflating else { return try read() }
        while true {
            if compressed.isEmpty { compressed = try read()[...] }
            let isDry = compressed.isEmpty
            guard !isDry || isInflating else { return [] }
            do throws(InflateFailure) {
                if !isInflating { try inflating.open(.gzip) }
                let (output, isAtEnd) = try inflating.inflate(
                    &compressed,
                    upTo: Self.pieceByteCount
                )
                isInflating = !isAtEnd
                if !output.isEmpty { return output }
            } catch {
                // Damaged: what came before was given out, and nothing behind it can be read.
                (compressed, isInflating) = ([], false)
                offset = .max
                return []
            }
            if isDry { return [] }
        }
    }

    private func read() throws(FileSystemError) -> [UInt8] {
        guard offset != .max else { return [] }
        let piece = try file.read(at: offset, count: Self.pieceByteCount)
        offset += piece.count
        return piece
    }
}

#endif
