import Foundation
import KeelToolSupport

/// Standard input as a file.
enum StandardInput {
    /// Copies standard input to a file that only its owner may read, in a new folder.
    ///
    /// - Returns: The file, whose folder the caller removes.
    /// - Throws: `ToolError` if the disk is full.
    static func copied() throws -> URL {
        let folder = URL.temporaryDirectory.appending(path: "keel-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
            let file = folder.appending(path: "input")
            try Data().write(to: file)
            let handle = try FileHandle(forWritingTo: file)
            while let piece = try FileHandle.standardInput.read(upToCount: 1 << 20),
                !piece.isEmpty
            {
                try handle.write(contentsOf: piece)
            }
            try handle.close()
            return file
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw ToolError(
                "standard input cannot be copied to “\(folder.path)”: "
                    + error.localizedDescription,
                advice: "Free some room there, or set TMPDIR to a folder that has some."
            )
        }
    }
}
