package import Foundation

/// How far a long run has come, in a file that exists until the run is done.
package protocol Checkpoint: Codable {}

extension Checkpoint {
    /// Writes the checkpoint in one step: a reader finds the old or the new one.
    ///
    /// - Parameter file: Where it is kept.
    /// - Throws: What writing throws.
    package func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(self).write(to: file, options: .atomic)
    }
}
