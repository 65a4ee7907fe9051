#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

extension LocalFileStoreAdapter {
    public func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage {
        try FileStoreError.checkCancellation()
        var listing = Listing(request: request)
        var start = folder.root
        if let path = request.folder.path {
            guard case .folder(let parent) = try folder.way(to: path),
                let own = try Self.folder(path.name, in: parent, path.string)
            else { return FilePage(files: []) }
            start = own
        }
        try list(start, request.folder.prefix, &listing)
        if !listing.isCutOff { names.forget() }
        return listing.page
    }

    private struct Listing {
        let request: FileListRequest
        var files: [FileSummary] = []
        var folders: [FileStoreFolder] = []
        var lastKey = ""
        var isCutOff = false

        var isFull: Bool { files.count + folders.count >= request.limit }

        var page: FilePage {
            FilePage(files: files, folders: folders, next: isCutOff ? FileCursor(lastKey) : nil)
        }

        func isWanted(_ key: String) -> Bool {
            request.after.map { FilePaging.precedes($0.string, key) } ?? true
        }

        func mayHold(_ prefix: String) -> Bool {
            guard let after = request.after?.string else { return true }
            return after.utf8.starts(with: prefix.utf8) || FilePaging.precedes(after, prefix)
        }
    }

    struct Entry: Sendable {
        let name: String
        let isFolder: Bool

        var key: String { isFolder ? name + "/" : name }
    }

    private func list(
        _ folder: Descriptor,
        _ prefix: String,
        _ listing: inout Listing
    ) throws(FileStoreError) {
        let entries = try entries(of: folder, prefix, goesOn: listing.request.after != nil)
        let isRecursive = listing.request.isRecursive
        for entry in entries[Self.start(of: entries, prefix, listing)...] {
            let key = prefix + entry.key
            if entry.isFolder, isRecursive {
                guard let next = try Self.folder(entry.name, in: folder, key) else { continue }
                try list(next, key, &listing)
                if listing.isCutOff { return }
                continue
            }
            guard listing.isWanted(key) else { continue }
            if listing.isFull {
                listing.isCutOff = true
                return
            }
            let path = FileStorePath(unchecked: prefix + entry.name)
            if entry.isFolder {
                guard let next = try Self.folder(entry.name, in: folder, key),
                    try hasFiles(next, key)
                else { continue }
                listing.folders.append(FileStoreFolder(path))
            } else {
                guard let file = try file(entry, in: folder, path) else { continue }
                listing.files.append(file)
            }
            listing.lastKey = key
        }
    }

    /// Returns the index of the first entry that may contain items after the cursor; so may all later ones.
    private static func start(
        of entries: [Entry],
        _ prefix: String,
        _ listing: Listing
    ) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            let key = prefix + entries[middle].key
            let isBehind =
                entries[middle].isFolder && listing.request.isRecursive
                ? listing.mayHold(key) : listing.isWanted(key)
            if isBehind { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private static func folder(
        _ name: String,
        in outer: Descriptor,
        _ path: String
    ) throws(FileStoreError) -> Descriptor? {
        switch outer.open(name, O_RDONLY | O_DIRECTORY) {
        case .success(let folder): return folder
        case .failure(let failure):
            if [ENOENT, ENOTDIR, ELOOP].contains(failure.number) { return nil }
            throw FileStoreError("openat", path, .readFailed, number: failure.number)
        }
    }

    private func file(
        _ entry: Entry,
        in folder: Descriptor,
        _ path: FileStorePath
    ) throws(FileStoreError) -> FileSummary? {
        switch folder.open(entry.name, O_RDONLY | O_NONBLOCK) {
        case .success(let file):
            guard let status = file.status(), status.kind == .file else { return nil }
            let label = FileLabel(of: file)
            let isCurrent = label?.isAbout(status) == true
            return summary(path, status, version: isCurrent ? label?.fileVersion : nil)
        case .failure(let failure):
            switch failure.number {
            case ENOENT, ELOOP, ENXIO: return nil
            // The file is visible but not readable.
            case EACCES, EPERM:
                guard let status = folder.status(of: entry.name), status.kind == .file else {
                    return nil
                }
                return summary(path, status, version: nil)
            default:
                throw FileStoreError("openat", path.string, .readFailed, number: failure.number)
            }
        }
    }

    /// Returns the files and folders in a folder, in byte order; with `goesOn`, they may come from the cache of the
    /// previous page.
    private func entries(
        of folder: Descriptor,
        _ prefix: String,
        goesOn: Bool = false
    ) throws(FileStoreError) -> [Entry] {
        let status = folder.status()
        if goesOn, let known = names.entries(of: prefix, status) { return known }
        let found: [Descriptor.Name]
        switch folder.entries() {
        case .success(let entries): found = entries
        case .failure(let failure):
            throw FileStoreError("readdir", prefix, .readFailed, number: failure.number)
        }
        let entries = found.compactMap { name -> Entry? in
            if prefix.isEmpty, name.text == FileStorePath.reservedName { return nil }
            guard FileStorePath.flaw(of: prefix + name.text) == nil,
                let kind = name.kind ?? folder.status(of: name.text)?.kind, kind != .other
            else { return nil }
            return Entry(name: name.text, isFolder: kind == .folder)
        }
        let sorted = entries.sorted { FilePaging.precedes($0.key, $1.key) }
        names.keep(sorted, of: prefix, status)
        return sorted
    }

    private func hasFiles(_ folder: Descriptor, _ prefix: String) throws(FileStoreError) -> Bool {
        for entry in try entries(of: folder, prefix) {
            if !entry.isFolder { return true }
            if let next = try Self.folder(entry.name, in: folder, prefix + entry.name),
                try hasFiles(next, prefix + entry.key)
            {
                return true
            }
        }
        return false
    }
}
