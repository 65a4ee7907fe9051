import Foundation

/// A file that is replaced atomically, with only Foundation's file handle and system calls.
struct FileHandleFiles {
    private let path: String

    init(_ path: String) { self.path = path }

    var isThere: Bool { FileManager.default.fileExists(atPath: path) }

    func put(_ pieces: [[UInt8]]) throws {
        let part = path + ".part"
        guard FileManager.default.createFile(atPath: part, contents: nil) else {
            throw Flaw("The file \(part) could not be made.")
        }
        let handle = try FileHandle(forWritingTo: URL(filePath: part))
        for piece in pieces { try handle.write(contentsOf: piece) }
        try handle.synchronize()
        try handle.close()
        guard rename(part, path) == 0 else { throw Flaw("The file could not be renamed.") }
        let folder = open(URL(filePath: path).deletingLastPathComponent().path, O_RDONLY)
        guard folder >= 0, fsync(folder) == 0 else {
            throw Flaw("The folder was not synchronised.")
        }
        close(folder)
    }

    /// Reads all bytes and returns their number.
    func get(_ pieceByteCount: Int) throws -> Int {
        let handle = try FileHandle(forReadingFrom: URL(filePath: path))
        var count = 0
        while let piece = try handle.read(upToCount: pieceByteCount), !piece.isEmpty {
            count += piece.count
        }
        try handle.close()
        return count
    }
}
