package import Foundation

/// The progress of a long operation, kept in a file until the operation has finished.
package protocol Checkpoint: Codable {}

extension Checkpoint {
    /// Writes the checkpoint atomically: a reader finds the old or the new one.
    ///
    /// - Parameter file: The file.
    /// - Throws: An error if the file cannot be written.
    package func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(self).write(to: file, options: .atomic)
    }
}
