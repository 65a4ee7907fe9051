package import Foundation
internal import KeelToolSupport

/// How far an import has come: what a file beside the imported one holds until the import is done.
///
/// It is replaced after each batch that the store acknowledged. A batch whose checkpoint was not
/// written any more is committed again by the next run, under the same id.
package struct ImportCheckpoint: Checkpoint, Hashable, Sendable {
    /// Which import this is; part of the ids of its batches.
    package var run: String
    /// What the file looked like, so that another file is not taken for it.
    package var file: FileMark
    /// Where the documents go.
    package var collection: String?
    /// The field that holds the id.
    package var idField: String?
    /// The form of the elements.
    package var isTyped: Bool
    /// Whether times and revisions are kept.
    package var isExact: Bool
    /// How the file holds its elements.
    package var container: ElementReader.Container
    /// The end of the last element that is done.
    package var offset = 0
    /// The number of that element.
    package var number = 0
    /// How many documents the store took.
    package var imported = 0
    /// How many elements are bad.
    package var bad = 0
    /// How long the file of bad lines was.
    package var badLinesLength: UInt64 = 0
    /// Whether the file has been read to its end.
    package var isFinished = false

    /// The checkpoint in a file, nil where there is none.
    ///
    /// - Throws: `ToolError` where the file is no checkpoint.
    package static func read(_ file: URL) throws -> ImportCheckpoint? {
        guard let data = FileManager.default.contents(atPath: file.path) else { return nil }
        guard let checkpoint = try? JSONDecoder().decode(Self.self, from: data) else {
            throw ToolError(
                "“\(file.path)” is not an import checkpoint",
                advice: "Remove the file to import from the beginning."
            )
        }
        return checkpoint
    }

    /// Whether an import with these settings can go on from here.
    func continues(_ other: ImportCheckpoint) -> Bool {
        file == other.file && collection == other.collection && idField == other.idField
            && isTyped == other.isTyped && isExact == other.isExact
            && container == other.container
    }
}
