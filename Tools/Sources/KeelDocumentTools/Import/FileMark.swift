internal import Crypto
package import Foundation
internal import KeelToolSupport

/// Identifies a file without reading all of it, by its size, its beginning and its end.
package struct FileMark: Codable, Hashable, Sendable {
    /// The file's size in bytes.
    package let size: Int
    /// The hash of the first and the last 64 KiB.
    package let ends: String

    /// Creates the mark of a file.
    ///
    /// - Throws: `ToolError` if the file cannot be read.
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
