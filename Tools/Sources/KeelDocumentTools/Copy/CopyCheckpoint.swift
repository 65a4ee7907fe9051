package import Foundation
internal import KeelStorage
internal import KeelToolSupport

/// How far a copy has come: a file that exists until the copy is done and verified.
package struct CopyCheckpoint: Checkpoint, Hashable, Sendable {
    /// A collection that is not done yet, of a source without a change log.
    struct Open: Codable, Hashable, Sendable {
        /// The collection.
        var collection: String
        /// The id of the last document that is done.
        var after: String?
    }

    /// Where the documents come from and go to, and which.
    package var subject: String
    /// The position of the source's change log behind what is done.
    var cursor: [UInt8]?
    /// What is to be done, of a source without a change log; the last is next.
    var open: [Open]?
    /// The names of the collections that documents were copied of.
    var names: Set<String> = []
    /// How many documents the target took; one that changed meanwhile counts again.
    package var copied = 0
    /// Why documents could not be read and so were not copied, by their paths.
    var unreadable: [String: String] = [:]
    /// Whether all of the source has been read.
    var isRead = false

    package init(subject: String) { self.subject = subject }

    /// The checkpoint in a file, nil where there is none.
    ///
    /// - Throws: `ToolError` where the file is no checkpoint, or that of another copy.
    package static func read(_ file: URL, of subject: String) throws -> CopyCheckpoint? {
        guard let data = FileManager.default.contents(atPath: file.path) else { return nil }
        guard let checkpoint = try? JSONDecoder().decode(Self.self, from: data),
            checkpoint.subject == subject
        else {
            throw ToolError(
                "“\(file.path)” is not the checkpoint of this copy",
                advice: "Name the same stores and collections, or leave out --resume."
            )
        }
        return checkpoint
    }
}
