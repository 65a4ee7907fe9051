package import Foundation
internal import KeelToolSupport

/// The progress of a long operation, in a file until the operation has finished.
package protocol Checkpoint: Codable {}

extension Checkpoint {
    /// Returns the contents of a file; nil if it does not exist.
    ///
    /// - Throws: `ToolError` if it cannot be read, or is a pipe or a device.
    static func contents(of file: URL) throws -> Data? {
        try SpecialFile.refuseWriting(file.path, advice: "Name a file for --checkpoint.")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do {
            return try Data(contentsOf: file)
        } catch {
            throw ToolError(
                "the checkpoint “\(file.path)” cannot be read: \(ToolError.reason(error))",
                advice: "Check its permissions, or name another file for --checkpoint."
            )
        }
    }

    /// Writes the checkpoint atomically.
    ///
    /// - Throws: `ToolError` if the file cannot be written.
    package func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let bytes = try encoder.encode(self)
        do {
            try bytes.write(to: file, options: .atomic)
        } catch {
            throw ToolError(
                "the checkpoint “\(file.path)” cannot be written: \(ToolError.reason(error))",
                advice: "Make room, or add --checkpoint with a file that you may write."
            )
        }
    }
}
