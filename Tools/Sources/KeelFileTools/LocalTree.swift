internal import Foundation
internal import KeelToolSupport

/// The files in a local folder and its subfolders.
struct LocalTree {
    /// The files by their relative paths, sorted by bytes.
    private(set) var files: [(names: String, byteCount: Int, modified: Date)] = []
    /// The relative paths of links, which may lead out of the folder, pipes and devices, and of entries that cannot be
    /// examined, such as names that are not UTF-8, or are gone meanwhile.
    private(set) var skipped: [String] = []
    /// The relative paths of subfolders that cannot be read, with a final `/`, and the reasons.
    private var unreadable: [(names: String, reason: String)] = []
    private let folder: String

    /// Reads a folder; throws `ToolError` with the advice if the path does not name one.
    ///
    /// `list` returns the names in a folder.
    init(
        _ folder: String,
        advice: String = "Omit --recursive to copy a file, or check the path.",
        list: (String) throws -> [String] = {
            try FileManager.default.contentsOfDirectory(atPath: $0)
        }
    ) throws {
        guard Self.isFolder(folder) else {
            throw ToolError("“\(folder)” is not a folder", advice: advice)
        }
        self.folder = folder
        read(folder, below: "", list)
        files.sort { $0.names.utf8.lexicographicallyPrecedes($1.names.utf8) }
        skipped.sort()
    }

    /// Throws `ToolError` if a subfolder cannot be read, unless `isExcluded` returns true for its path with a final
    /// `/`.
    func requireReadable(except isExcluded: (String) -> Bool = { _ in false }) throws {
        guard let part = unreadable.first(where: { !isExcluded($0.names) }) else { return }
        throw ToolError(
            "the folder “\(folder)/\(part.names)” cannot be read: \(part.reason)",
            advice: part.names.isEmpty
                ? "Check its permissions."
                : "Check its permissions, or leave it out: keel files sync "
                    + "--exclude '/\(part.names)' …"
        )
    }

    private mutating func read(
        _ folder: String,
        below prefix: String,
        _ list: (String) throws -> [String]
    ) {
        let names: [String]
        do {
            names = try list(folder)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile && !prefix.isEmpty {
            skipped.append(String(Substring(prefix.utf8.dropLast())))
            return
        } catch {
            unreadable.append((prefix, ToolError.reason(error)))
            return
        }
        for name in names {
            // An unfinished download of FileStore, which another process may be writing: neither copied nor deleted.
            if name.hasPrefix("."), name.contains(".keel-part-") { continue }
            let path = folder + "/" + name
            // A file can be gone meanwhile, and a name that is not UTF-8 leads nowhere.
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else {
                skipped.append(prefix + name)
                continue
            }
            switch attributes[.type] as? FileAttributeType {
            case .typeRegular?:
                let size = (attributes[.size] as? NSNumber)?.intValue ?? 0
                let modified = attributes[.modificationDate] as? Date ?? .distantPast
                files.append((prefix + name, size, modified))
            case .typeDirectory?: read(path, below: prefix + name + "/", list)
            default: skipped.append(prefix + name)
            }
        }
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && isFolder.boolValue
    }

    /// Returns whether the path of a file in a folder leads through a link, which may lead out of the folder.
    static func isBehindLink(_ names: String, in folder: String) -> Bool {
        var path = folder
        return names.utf8.split(separator: UInt8(ascii: "/")).dropLast().contains { name in
            path += "/" + String(Substring(name))
            var status = stat()
            return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
        }
    }

    static func makeFolder(above path: String) throws {
        let folder = URL(filePath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true
            )
        } catch {
            throw ToolError(
                "the folder “\(folder.path)” cannot be created: \(ToolError.reason(error))",
                advice: "Check whether a file has its name, and the permissions above it."
            )
        }
    }
}
