#if os(Linux)
internal import KeelCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Reports the changes in a local folder by inotify(7).
///
/// A new folder is listed after its watch is added, so that no file in it is missed; a file that arrives in between is
/// reported twice.
///
/// `@unchecked` because of the prefixes: one thread creates the watch, and afterwards only the queue of the events uses
/// it.
final class FolderWatch: @unchecked Sendable {
    private let inotify: Inotify
    private weak var inbox: FileChangeInbox?
    /// The path prefixes of the watched folders, by the number of the watch.
    private(set) var prefixes: [Int32: String] = [:]

    private static let mask = UInt32(
        IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR
    )

    init(_ inotify: Inotify, _ inbox: FileChangeInbox) {
        self.inotify = inotify
        self.inbox = inbox
    }

    /// Starts to report changes; ends with the inbox.
    static func start(_ root: Descriptor, telling inbox: FileChangeInbox) throws(FileStoreError) {
        let inotify: Inotify
        do throws(FileSystemError) { inotify = try Inotify() } catch {
            throw FileStoreError(error.call, "/", .readFailed, number: error.number)
        }
        let watch = FolderWatch(inotify, inbox)
        try watch.add(root, "", isNew: false)
        inotify.follow { events in
            for event in events { watch.handle(event.watch, event.mask, event.name) }
        }
        inbox.whenOver { inotify.cancel() }
    }

    func handle(_ folder: Int32, _ mask: UInt32, _ name: String) {
        func isSet(_ flag: Int32) -> Bool { mask & UInt32(flag) != 0 }
        if isSet(IN_Q_OVERFLOW) {
            addAgain()
            inbox?.tell(.missed)
        } else if isSet(IN_IGNORED) {
            guard prefixes.removeValue(forKey: folder) == "" else { return }
            // The store's own folder is gone.
            inbox?.tell(.missed)
            inbox?.finish()
        } else if let prefix = prefixes[folder], FileStorePath.flaw(of: prefix + name) == nil {
            let path = FileStorePath(unchecked: prefix + name)
            switch (isSet(IN_ISDIR), isSet(IN_CREATE), isSet(IN_MOVED_TO), isSet(IN_CLOSE_WRITE)) {
            case (true, true, _, _), (true, _, true, _): addNew(path, under: folder)
            case (true, _, _, _): if isSet(IN_MOVED_FROM) { forget(path) }
            case (false, _, true, _), (false, _, _, true): inbox?.tell(.written(path))
            case (false, true, _, _): addLinked(path)
            case (false, _, _, _): inbox?.tell(.removed(path))
            }
        }
    }

    /// Watches what there is now: the lost events may be those of new and moved folders.
    private func addAgain() {
        guard let folder = root?.root else { return }
        let former = prefixes
        prefixes = [:]
        guard (try? add(folder, "", isNew: false)) != nil else {
            prefixes.merge(former) { current, _ in current }
            return
        }
        for watch in former.keys where prefixes[watch] == nil { inotify.unwatch(watch) }
    }

    /// Removes the watches of a folder that was moved as a whole, and of its subfolders.
    private func forget(_ path: FileStorePath) {
        for (watch, prefix) in prefixes where prefix.utf8.starts(with: (path.string + "/").utf8) {
            prefixes[watch] = nil
            inotify.unwatch(watch)
        }
        inbox?.tell(.missed)
    }

    /// Reports a new name of a file that has bytes already, as link(2) gives it, which no closing of the file follows.
    private func addLinked(_ path: FileStorePath) {
        guard let root, case .folder(let parent)? = try? root.way(to: path),
            let status = parent.status(of: path.name), status.kind == .file, status.size > 0
        else { return }
        inbox?.tell(.written(path))
    }

    private func addNew(_ path: FileStorePath, under folder: Int32) {
        guard let root, case .folder(let parent)? = try? root.way(to: path),
            case .success(let own) = parent.open(path.name, O_RDONLY | O_DIRECTORY)
        else { return }
        if (try? add(own, path.string + "/", isNew: true)) == nil { inbox?.tell(.missed) }
    }

    private var root: LocalFolder?

    func add(
        _ folder: Descriptor,
        _ prefix: String,
        isNew: Bool
    ) throws(FileStoreError) {
        if prefix.isEmpty { root = LocalFolder(root: folder, news: folder) }
        let watch: Int32
        do throws(FileSystemError) {
            // Addressed by its descriptor, so that no symbolic link is followed.
            watch = try inotify.watch("/proc/self/fd/\(folder.number)", for: Self.mask)
        } catch {
            // Here, ENOSPC means too many watches, not a full disk.
            throw FileStoreError(
                .unavailable,
                "“/\(prefix)” cannot be watched; fs.inotify.max_user_watches may be too low.",
                cause: FileSystemError(error.call, prefix, number: error.number)
            )
        }
        prefixes[watch] = prefix
        guard case .success(let names) = folder.names() else {
            throw FileStoreError(.unavailable, "The folder “/\(prefix)” cannot be read.")
        }
        for name in names where FileStorePath.flaw(of: prefix + name) == nil {
            switch folder.status(of: name)?.kind {
            case .folder?:
                if case .success(let next) = folder.open(name, O_RDONLY | O_DIRECTORY) {
                    try add(next, prefix + name + "/", isNew: isNew)
                }
            case .file? where isNew:
                inbox?.tell(.written(FileStorePath(unchecked: prefix + name)))
            default: break
            }
        }
    }
}

extension LocalFileStoreAdapter {
    /// Observes changes with inotify, including those of other programs.
    public func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges {
        let inbox = FileChangeInbox(folder)
        try FolderWatch.start(self.folder.root, telling: inbox)
        return FileChanges(inbox)
    }
}
#endif
