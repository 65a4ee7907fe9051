import Foundation

/// Finds the Swift files of a project.
///
/// Links, hidden files and folders, and folders filled by tools are skipped. Packages within the project belong to it
/// if its configuration lists them. Without a list, those without their own configuration do: in a package its
/// dependencies by path, in an Xcode app all.
package struct SourceDiscovery: Sendable {
    package static let skippedFolders: Set<String> = [
        "DerivedData", "Pods", "Carthage", "node_modules", "SourcePackages", "Checkouts",
        "__pycache__",
    ]

    private static let skippedEndings = [
        ".xcodeproj", ".xcworkspace", ".xcassets", ".docc", ".framework", ".xcframework", ".app",
        ".bundle", ".playground", ".lproj",
    ]

    package struct Result: Sendable, Equatable {
        /// Paths relative to the root, sorted.
        package var files: [String] = []
        /// The folders of packages that belong to the project.
        package var localPackages: [String] = []
        /// The folders of packages that do not.
        package var nestedPackages: [String] = []
        package var unreadable: [String] = []
        package var isPackage = false
    }

    /// Finds the files of a project.
    package static func search(_ root: String, packages: [Glob]? = nil) -> Result {
        var result = Result()
        result.isPackage = FileManager.default.fileExists(atPath: root + "/Package.swift")
        var nested = scan("", root, &result)
        var wanted: Set<String> = []
        if packages == nil, result.isPackage, !nested.isEmpty {
            wanted = LocalPackages.dependencies(of: "", root: root)
        }
        var isChanged = true
        // A package that belongs to the project adds those within it and its dependencies.
        while isChanged {
            isChanged = false
            for folder in nested.sorted() {
                let isTaken =
                    packages.map { $0.contains { $0.matches(path: folder) } }
                    ?? (!LocalPackages.isConfigured(folder, root: root)
                        && (!result.isPackage || wanted.contains(folder)))
                guard isTaken else { continue }
                isChanged = true
                nested.remove(folder)
                result.localPackages.append(folder)
                nested.formUnion(scan(folder, root, &result))
                if packages == nil, result.isPackage {
                    wanted.formUnion(LocalPackages.dependencies(of: folder, root: root))
                }
            }
        }
        result.nestedPackages = nested.sorted()
        result.localPackages.sort()
        result.files.sort()
        result.unreadable.sort()
        return result
    }

    /// Adds the files of a package or project; returns the packages within it.
    private static func scan(
        _ start: String,
        _ root: String,
        _ result: inout Result
    ) -> Set<String> {
        var nested: Set<String> = []
        var pending = [start]
        while let folder = pending.popLast() {
            guard let entries = entries(of: folder.isEmpty ? root : "\(root)/\(folder)") else {
                result.unreadable.append(folder.isEmpty ? "." : folder)
                continue
            }
            if folder != start, entries.contains(where: { $0.name == "Package.swift" }) {
                nested.insert(folder)
                continue
            }
            for entry in entries where !entry.name.hasPrefix(".") {
                let path = folder.isEmpty ? entry.name : "\(folder)/\(entry.name)"
                if entry.isFolder {
                    guard !skippedFolders.contains(entry.name),
                        !skippedEndings.contains(where: { entry.name.hasSuffix($0) })
                    else { continue }
                    pending.append(path)
                } else if entry.name.hasSuffix(".swift"),
                    folder != start || !isManifest(entry.name)
                {
                    result.files.append(path)
                }
            }
        }
        return nested
    }

    private static func isManifest(_ name: String) -> Bool {
        name == "Package.swift" || name.hasPrefix("Package@swift-")
    }

    private struct Entry {
        let name: String
        let isFolder: Bool
    }

    /// Without links.
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
                // Some file systems do not report the type.
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
