internal import Foundation

/// The number, size and date of a file, which show whether it was replaced or changed.
package struct FileState: Equatable, Sendable {
    private let number: UInt64?
    private let byteCount: Int?
    private let modified: Date?

    /// Reads the state of a file; of a link, that of its target.
    ///
    /// - Throws: ``ToolError`` if there is no file, or its folder cannot be searched.
    package init(_ path: String) throws {
        let attributes: [FileAttributeKey: Any]
        do {
            // Of a link, the attributes are its own.
            let file = URL(filePath: path).resolvingSymlinksInPath()
            attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        } catch {
            throw ToolError(
                "“\(path)” cannot be read: \(ToolError.reason(error))",
                advice: "Check the path and the permissions."
            )
        }
        number = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value
        byteCount = (attributes[.size] as? NSNumber)?.intValue
        modified = attributes[.modificationDate] as? Date
    }
}
