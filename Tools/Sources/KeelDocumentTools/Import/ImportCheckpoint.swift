internal import Crypto
package import Foundation
internal import KeelToolSupport

/// The progress of an import, in a file until the import has finished.
package struct ImportCheckpoint: Checkpoint, Hashable, Sendable {
    /// The id of the import, which is part of the ids of its batches.
    package var run: String
    package var file: FileMark
    package var collection: String?
    package var idField: String?
    package var isTyped: Bool
    package var isExact: Bool
    package var container: ElementReader.Container
    package var store: String?
    /// The end of the last finished element in bytes.
    package var offset = 0
    /// The number of the last finished element.
    package var number = 0
    package var imported = 0
    /// The number of rejected elements.
    package var bad = 0
    /// The length of the file of rejected elements; nil if the import keeps none.
    package var badLinesLength: UInt64?
    /// Whether the whole file has been read.
    package var isFinished = false

    /// Reads a checkpoint; returns nil if the file does not exist.
    ///
    /// - Throws: `ToolError` if the file cannot be read, or is not a checkpoint.
    package static func read(_ file: URL) throws -> ImportCheckpoint? {
        guard let data = try contents(of: file) else { return nil }
        guard let checkpoint = try? JSONDecoder().decode(Self.self, from: data) else {
            throw ToolError(
                "“\(file.path)” is not an import checkpoint",
                advice: "Name another file for --checkpoint, or remove this one."
            )
        }
        return checkpoint
    }

    /// Returns whether an import with these settings can resume from the checkpoint.
    func continues(_ other: ImportCheckpoint) -> Bool {
        file == other.file && collection == other.collection && idField == other.idField
            && isTyped == other.isTyped && isExact == other.isExact
            && container == other.container && store == other.store
            && (badLinesLength == nil) == (other.badLinesLength == nil)
    }
}

/// Identifies a file by its size, its beginning and its end.
package struct FileMark: Codable, Hashable, Sendable {
    /// The file's size in bytes.
    package let size: Int
    /// The hash of the first and the last 64 KiB.
    package let ends: String

    /// Creates the mark of a file.
    ///
    /// - Throws: `ToolError` if the file cannot be read, or is a pipe or a device.
    package init(_ file: URL) throws {
        try SpecialFile.refuseReading(file.path)
        do {
            let handle = try FileHandle(forReadingFrom: file)
            size = Int(try handle.seekToEnd())
            var hash = SHA256()
            for offset in [0, max(0, size - 65_536)] {
                try handle.seek(toOffset: UInt64(offset))
                hash.update(data: try handle.read(upToCount: 65_536) ?? Data())
            }
            ends = hash.finalize().hexadecimal(bytes: 16)
            try handle.close()
        } catch {
            throw ToolError(
                "“\(file.path)” cannot be read: \(ToolError.reason(error))",
                advice: "Check the path and the file’s permissions."
            )
        }
    }
}
