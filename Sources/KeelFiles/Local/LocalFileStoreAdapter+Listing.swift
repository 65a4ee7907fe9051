#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#elseif canImport(Darwin)
internal import Darwin
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
        return listing.page
    }

    /// What has been listed so far.
    private struct Listing {
        let request: FileListRequest
        var files: [FileSummary] = []
        var folders: [FileStoreFolder] = []
        var lastKey = ""
        /// Whether there was one more than fits.
        var isCutOff = false

        var isFull: Bool { files.count + folders.count >= request.limit }

        var page: FilePage {
            FilePage(files: files, folders: folders, next: isCutOff ? FileCursor(lastKey) : nil)
        }

        /// Whether something with this key comes behind the cursor.
        func isWanted(_ key: String) -> Bool {
            request.after.map { FilePaging.precedes($0.string, key) } ?? true
        }

        /// Whether a folder may hold something that comes behind the cursor.
        func mayHold(_ prefix: String) -> Bool {
            guard let after = request.after?.string else { return true }
            return after.utf8.starts(with: prefix.utf8) || FilePaging.precedes(after, prefix)
        }
    }

    private struct Entry {
        let name: String
        let status: FileStatus

        /// What it is ordered by: the paths in a folder go on with “/”.
        var key: String { status.kind == .folder ? name + "/" : name }
    }

    private func list(
        _ folder: Descriptor,
        _ prefix: String,
        _ listing: inout Listing
    ) throws(FileStoreError) {
        for entry in try entries(of: folder, prefix) {
            let key = prefix + entry.key
            if entry.status.kind == .folder, listing.request.isRecursive {
                guard listing.mayHold(key) else { continue }
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
            if entry.status.kind == .folder {
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

    /// Opens a folder; nil where there is none any more.
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

    /// What a list tells of a file; nil where there is none any more.
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
            // One that may be seen, and not read.
            case EACCES, EPERM: return summary(path, entry.status, version: nil)
            default:
                throw FileStoreError("openat", path.string, .readFailed, number: failure.number)
            }
        }
    }

    /// The files and folders in a folder, in the order of the bytes of their paths.
    private func entries(
        of folder: Descriptor,
        _ prefix: String
    ) throws(FileStoreError) -> [Entry] {
        let names: [String]
        switch folder.names() {
        case .success(let found): names = found
        case .failure(let failure):
            throw FileStoreError("readdir", prefix, .readFailed, number: failure.number)
        }
        let entries = names.compactMap { name -> Entry? in
            if prefix.isEmpty, name == FileStorePath.reservedName { return nil }
            guard FileStorePath.flaw(of: prefix + name) == nil,
                let status = folder.status(of: name), status.kind != .other
            else { return nil }
            return Entry(name: name, status: status)
        }
        return entries.sorted { FilePaging.precedes($0.key, $1.key) }
    }

    /// Whether a file is in a folder or in those inside of it.
    private func hasFiles(_ folder: Descriptor, _ prefix: String) throws(FileStoreError) -> Bool {
        for entry in try entries(of: folder, prefix) {
            if entry.status.kind == .file { return true }
            if let next = try Self.folder(entry.name, in: folder, prefix + entry.name),
                try hasFiles(next, prefix + entry.key)
            {
                return true
            }
        }
        return false
    }
}
