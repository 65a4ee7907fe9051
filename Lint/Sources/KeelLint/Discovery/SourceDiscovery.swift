import Foundation

/// Finds the Swift files of a project.
///
/// Left out are hidden folders (so `.build`), folders that tools fill, and packages within the
/// package, which have their own configuration. Links are not followed.
package struct SourceDiscovery: Sendable {
    /// Folders that hold no source of the project, whatever its kind.
    package static let skippedFolders: Set<String> = [
        "DerivedData", "Pods", "Carthage", "node_modules", "SourcePackages", "Checkouts",
        "__pycache__",
    ]

    private static let skippedEndings = [
        ".xcodeproj", ".xcworkspace", ".xcassets", ".docc", ".framework", ".xcframework", ".app",
        ".bundle", ".playground", ".lproj",
    ]

    /// What was found.
    package struct Result: Sendable, Equatable {
        /// Paths relative to the root, sorted.
        package var files: [String] = []
        /// The folders of packages within the project, which were left out.
        package var nestedPackages: [String] = []
        /// Folders that could not be read.
        package var unreadable: [String] = []
        /// Whether the root itself is a package.
        package var isPackage = false
    }

    /// Finds the files below a folder.
    package static func search(_ root: String) -> Result {
        var result = Result()
        result.isPackage = FileManager.default.fileExists(atPath: root + "/Package.swift")
        var pending = [""]
        while let folder = pending.popLast() {
            guard let entries = entries(of: folder.isEmpty ? root : "\(root)/\(folder)") else {
                result.unreadable.append(folder.isEmpty ? "." : folder)
                continue
            }
            if !folder.isEmpty, entries.contains(where: { $0.name == "Package.swift" }) {
                result.nestedPackages.append(folder)
                continue
            }
            for entry in entries where !entry.name.hasPrefix(".") {
                let path = folder.isEmpty ? entry.name : "\(folder)/\(entry.name)"
                if entry.isFolder {
                    guard !skippedFolders.contains(entry.name),
                        !skippedEndings.contains(where: { entry.name.hasSuffix($0) })
                    else { continue }
                    pending.append(path)
                } else if entry.name.hasSuffix(".swift"), !isManifest(path) {
                    result.files.append(path)
                }
            }
        }
        result.files.sort()
        result.nestedPackages.sort()
        result.unreadable.sort()
        return result
    }

    private static func isManifest(_ path: String) -> Bool {
        path == "Package.swift" || path.hasPrefix("Package@swift-")
    }

    private struct Entry {
        let name: String
        let isFolder: Bool
    }

    /// What a folder holds, without what links lead to.
    private static func entries(of folder: String) -> [Entry]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            var type = Int32(entry.pointee.d_type)
            if type == Int32(DT_UNKNOWN) {
                // Some file systems do not tell.
                var status = stat()
                guard lstat("\(folder)/\(name)", &status) == 0 else { continue }
                let mode = status.st_mode & S_IFMT
                type = Int32(mode == S_IFDIR ? DT_DIR : mode == S_IFREG ? DT_REG : DT_UNKNOWN)
            }
            guard type == Int32(DT_DIR) || type == Int32(DT_REG) else { continue }
            entries.append(Entry(name: name, isFolder: type == Int32(DT_DIR)))
        }
        return entries
    }
}
