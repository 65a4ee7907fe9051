package import Foundation
internal import KeelStorage
internal import KeelToolSupport

/// The progress of a copy, kept in a file until the copy is complete and verified.
package struct CopyCheckpoint: Checkpoint, Hashable, Sendable {
    /// A collection of a source without a change log that is not copied yet.
    struct Open: Codable, Hashable, Sendable {
        var collection: String
        /// The id of the last copied document.
        var after: String?
    }

    /// The source, the target and the selection of documents.
    package var subject: String
    /// The end of the name by which the source knows the copy as a reader of its change log; nil in checkpoints of
    /// earlier versions.
    ///
    /// Another copy of the same stores, such as on another machine, must not end or move this reader.
    var reader: String? = UUID().uuidString
    /// The position in the source's change log after the last copied change.
    var cursor: [UInt8]?
    /// The collections that are left to copy from a source without a change log; the last one is next.
    var open: [Open]?
    /// The names of the collections with copied documents.
    var names: Set<String> = []
    /// The number of documents written to the target; a document that changed during the copy counts again.
    package var copied = 0
    /// The reasons why documents could not be read and were not copied, by path.
    var unreadable: [String: String] = [:]
    /// Whether the whole source has been read.
    var isRead = false

    package init(subject: String) { self.subject = subject }

    /// Reads the checkpoint from a file; returns nil if the file does not exist.
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
