package import Foundation
internal import KeelStorage
internal import KeelToolSupport

/// The progress of a copy, in a file until the copy is complete and compared.
package struct CopyCheckpoint: Checkpoint, Hashable, Sendable {
    /// A collection of a source without a change log that is not copied yet.
    struct Open: Codable, Hashable, Sendable {
        var collection: String
        /// The id of the last copied document.
        var after: String?
    }

    /// The source, the target and the selection of documents.
    package var subject: String
    /// The end of the copy's name as a reader of the source's change log, different from that of another copy of the
    /// same stores; nil in checkpoints of earlier versions.
    var reader: String? = UUID().uuidString
    /// The position in the change log after the last copied change.
    var cursor: [UInt8]?
    /// The collections to copy from a source without a change log; the last one is next.
    var open: [Open]?
    /// The names of the collections with copied documents.
    var names: Set<String> = []
    /// The number of written documents; a document that changed during the copy counts again.
    package var copied = 0
    /// The reasons why documents could not be read, by path.
    var unreadable: [String: String] = [:]
    /// Whether the whole source has been read.
    var isRead = false

    package init(subject: String) { self.subject = subject }

    /// Reads a checkpoint; returns nil if the file does not exist.
    ///
    /// - Throws: `ToolError` if the file cannot be read, is not a checkpoint, or belongs to another copy.
    package static func read(_ file: URL, of subject: String) throws -> CopyCheckpoint? {
        guard let data = try contents(of: file) else { return nil }
        guard let checkpoint = try? JSONDecoder().decode(Self.self, from: data),
            checkpoint.subject == subject
        else {
            throw ToolError(
                "“\(file.path)” is not the checkpoint of this copy",
                advice: "Name another file for --checkpoint, or the stores of its copy."
            )
        }
        return checkpoint
    }
}
