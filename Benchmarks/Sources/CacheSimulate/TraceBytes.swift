internal import Foundation

/// The bytes of a file or of standard input, decompressed with `gzip` or `xz` if needed.
enum TraceBytes {
    private static let pieceSize = 1 << 16

    /// Reads a file, or `-`, once, and passes each piece to `body`.
    static func forEachPiece(of path: String, _ body: (Data) throws -> Void) throws {
        let input = try open(path)
        guard let first = try next(input) else {
            throw TraceError(message: "\(path) is empty")
        }
        guard let program = try unpacker(for: first) else {
            try body(first)
            while let piece = try next(input) { try body(piece) }
            return
        }
        try unpack(first, input, with: program, body)
    }

    private static func open(_ path: String) throws -> FileHandle {
        if path == "-" { return .standardInput }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw TraceError(message: "there is no file \(path)")
        }
        guard !isFolder.boolValue else { throw TraceError(message: "\(path) is a folder") }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw TraceError(message: "\(path) cannot be opened")
        }
        return file
    }

    private static func next(_ file: FileHandle) throws -> Data? {
        let piece = try file.read(upToCount: pieceSize)
        return piece.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the program that decompresses data with this beginning; nil for uncompressed data.
    private static func unpacker(for first: Data) throws -> String? {
        let bytes = [UInt8](first.prefix(6))
        if bytes.starts(with: [0x1F, 0x8B]) { return "gzip" }
        if bytes.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]) { return "xz" }
        if bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
            throw TraceError(message: "the trace is packed with zstd; unpack it first")
        }
        if bytes.starts(with: Array("BZh".utf8)) {
            throw TraceError(message: "the trace is packed with bzip2; unpack it first")
        }
        return nil
    }

    private static func unpack(
        _ first: Data,
        _ input: FileHandle,
        with program: String,
        _ body: (Data) throws -> Void
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program, "-dc"]
        let (packed, unpacked) = (Pipe(), Pipe())
        process.standardInput = packed
        process.standardOutput = unpacked
        // The program's errors go to our own standard error.
        try process.run()
        let feeder = Thread {
            let writer = packed.fileHandleForWriting
            var piece: Data? = first
            while let data = piece, (try? writer.write(contentsOf: data)) != nil {
                piece = try? next(input)
            }
            try? writer.close()
        }
        feeder.start()
        do {
            while let piece = try next(unpacked.fileHandleForReading) { try body(piece) }
        } catch {
            process.terminate()
            throw error
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw TraceError(
                message: "\(program) could not unpack the trace: it is cut, damaged or not packed"
            )
        }
    }
}
