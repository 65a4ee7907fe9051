#if Logging

internal import KeelCore
internal import KeelZlib

final class LogLines {
    private static let pieceByteCount = 64 << 10
    /// Keel writes no longer lines; others are returned in parts, which are not records.
    private static let longestLine = 16 << 20

    private let file: any OpenFile
    private let inflating: InflateStream?
    private var isInflating = false
    /// The offset of the next bytes in the file; `Int.max` once reading is over.
    private var offset = 0
    private var compressed: ArraySlice<UInt8> = []
    private var bytes: ArraySlice<UInt8> = []
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

    /// The first line of the file, whatever was read of it; nil if there is none, or if it cannot be read.
    var firstLine: ArraySlice<UInt8>? {
        let lines = inflating == nil ? LogLines(plain: file) : LogLines(compressed: file)
        return try? lines.next()
    }

    /// Returns the next line without its end; nil if there is no complete line yet.
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
                // Corrupt: everything before was returned, and nothing after it can be read.
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
