internal import Foundation
internal import KeelToolSupport

/// The files in a local folder and its subfolders.
struct LocalTree {
    /// The relative paths of the files, sorted by bytes, and their sizes.
    private(set) var files: [(names: String, byteCount: Int, modified: Date)] = []
    /// Entries that are neither files nor folders: links, which may lead out of the folder.
    private(set) var skipped: [String] = []

    /// Reads a folder.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - advice: The remedy if the path names something else.
    /// - Throws: `ToolError` if it is none, or the error of reading it.
    init(
        _ folder: String,
        advice: String = "Omit --recursive to copy a file, or check the path."
    ) throws {
        guard Self.isFolder(folder) else {
            throw ToolError("“\(folder)” is not a folder", advice: advice)
        }
        try read(folder, below: "")
        files.sort { $0.names.utf8.lexicographicallyPrecedes($1.names.utf8) }
        skipped.sort()
    }

    private mutating func read(_ folder: String, below prefix: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let path = folder + "/" + name
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            switch attributes[.type] as? FileAttributeType {
            case .typeRegular?:
                let size = (attributes[.size] as? NSNumber)?.intValue ?? 0
                let modified = attributes[.modificationDate] as? Date ?? .distantPast
                files.append((prefix + name, size, modified))
            case .typeDirectory?: try read(path, below: prefix + name + "/")
            default: skipped.append(prefix + name)
            }
        }
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && isFolder.boolValue
    }

    /// Creates the folder that contains a path.
    static func makeFolder(above path: String) throws {
        try FileManager.default.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
    }
}
