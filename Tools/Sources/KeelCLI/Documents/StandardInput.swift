import Foundation
import KeelToolSupport

enum StandardInput {
    /// Copies standard input to a file that only its owner may read, in a new folder.
    ///
    /// - Returns: The file, which the caller removes with ``discard(_:)``.
    /// - Throws: `ToolError` if it cannot be read or copied, and `CancellationError`; the folder is then removed.
    static func copied() throws -> URL {
        var folder: URL?
        do {
            let made = try TemporaryFolders.make()
            folder = made
            let file = made.appending(path: "input")
            try Data().write(to: file)
            let handle = try FileHandle(forWritingTo: file)
            while let piece = try nextPiece() { try handle.write(contentsOf: piece) }
            try handle.close()
            return file
        } catch {
            if let folder { TemporaryFolders.remove(folder) }
            guard !(error is CancellationError || error is ToolError) else { throw error }
            throw ToolError(
                "standard input cannot be copied to “\(URL.temporaryDirectory.path)”: "
                    + ToolError.reason(error),
                advice: "Free some room there, or set TMPDIR to a folder that has some."
            )
        }
    }

    static func discard(_ copy: URL) { TemporaryFolders.remove(copy.deletingLastPathComponent()) }

    /// Returns all bytes of standard input.
    ///
    /// - Throws: `ToolError` if it cannot be read, and `CancellationError`.
    static func data() throws -> Data {
        var data = Data()
        while let piece = try nextPiece() { data.append(piece) }
        return data
    }

    /// Returns the next bytes; nil at the end.
    private static func nextPiece() throws -> Data? {
        // Unlike reading, the wait ends at an interruption.
        var state = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while poll(&state, 1, 100) <= 0 { try Task.checkCancellation() }
        try Task.checkCancellation()
        // Reads only the available bytes; FileHandle would wait for the whole count.
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var count = read(STDIN_FILENO, &bytes, bytes.count)
        while count < 0, errno == EINTR { count = read(STDIN_FILENO, &bytes, bytes.count) }
        guard count >= 0 else {
            throw ToolError(
                "standard input cannot be read: \(String(cString: strerror(errno)))",
                advice: "Redirect a file to it, or give the file’s path instead of -."
            )
        }
        return count == 0 ? nil : Data(bytes[..<count])
    }
}
