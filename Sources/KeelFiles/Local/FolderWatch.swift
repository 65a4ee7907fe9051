#if os(Linux)
internal import Foundation
internal import KeelCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Follows the changes in a folder of the machine with inotify(7), on a thread of its own.
///
/// Each folder is watched by itself. One that is new is looked through after it is watched, so that
/// nothing in it is missed; what came in between is told twice.
final class FolderWatch {
    private let events: Descriptor
    private let wake: Descriptor
    private weak var inbox: FileChangeInbox?
    /// The folders that are watched: what the paths of their files begin with.
    private var prefixes: [Int32: String] = [:]

    private static let mask = UInt32(
        IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR
    )

    private init(_ events: Descriptor, _ wake: Descriptor, _ inbox: FileChangeInbox) {
        self.events = events
        self.wake = wake
        self.inbox = inbox
    }

    /// Begins to follow; it ends with the inbox.
    static func start(_ root: Descriptor, telling inbox: FileChangeInbox) throws(FileStoreError) {
        let events = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard events >= 0 else {
            throw FileStoreError("inotify_init1", "/", .readFailed, number: errno)
        }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            close(events)
            throw FileStoreError("pipe", "/", .readFailed, number: errno)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let end = Descriptor(ends[1])
        let watch = FolderWatch(Descriptor(events), Descriptor(ends[0]), inbox)
        try watch.add(root, "", isNew: false)
        // A byte wakes the thread up. Both ends live as long as this: there is somebody to read it.
        inbox.whenOver { [wake = watch.wake] in
            var byte: UInt8 = 0
            withExtendedLifetime(wake) { _ = write(end.number, &byte, 1) }
        }
        let box = Handover(watch)
        Thread { box.watch.run() }.start()
    }

    /// `@unchecked` because a watch is not `Sendable`: one thread makes it, and another alone uses it.
    private final class Handover: @unchecked Sendable {
        let watch: FolderWatch
        init(_ watch: FolderWatch) { self.watch = watch }
    }

    private func run() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var waiting = [
                pollfd(fd: events.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&waiting, 2, -1) < 0, errno != EINTR { break }
            if waiting[1].revents != 0 { return }
            let count = read(events.number, &buffer, buffer.count)
            if count > 0 { take(buffer.prefix(count)) }
        }
        inbox?.finish()
    }

    /// Takes what the system has told: each an `inotify_event` with a name behind it.
    private func take(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { bytes in
            var position = 0
            while position + 16 <= bytes.count {
                let folder = bytes.loadUnaligned(fromByteOffset: position, as: Int32.self)
                let mask = bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self)
                let length = bytes.loadUnaligned(fromByteOffset: position + 12, as: UInt32.self)
                let text = bytes[(position + 16)..<(position + 16 + Int(length))]
                handle(folder, mask, String(decoding: text.prefix { $0 != 0 }, as: UTF8.self))
                position += 16 + Int(length)
            }
        }
    }

    private func handle(_ folder: Int32, _ mask: UInt32, _ name: String) {
        func isSet(_ flag: Int32) -> Bool { mask & UInt32(flag) != 0 }
        if isSet(IN_Q_OVERFLOW) {
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
            case (false, true, _, _): break
            case (false, _, _, _): inbox?.tell(.removed(path))
            }
        }
    }

    /// A whole folder went away, with files that nobody names; what happens there is no change here.
    private func forget(_ path: FileStorePath) {
        for (watch, prefix) in prefixes where prefix.utf8.starts(with: (path.string + "/").utf8) {
            prefixes[watch] = nil
            inotify_rm_watch(events.number, watch)
        }
        inbox?.tell(.missed)
    }

    private func addNew(_ path: FileStorePath, under folder: Int32) {
        guard let root, case .folder(let parent)? = try? root.way(to: path),
            case .success(let own) = parent.open(path.name, O_RDONLY | O_DIRECTORY)
        else { return }
        if (try? add(own, path.string + "/", isNew: true)) == nil { inbox?.tell(.missed) }
    }

    private var root: LocalFolder?

    /// Watches a folder and those in it.
    private func add(
        _ folder: Descriptor,
        _ prefix: String,
        isNew: Bool
    ) throws(FileStoreError) {
        if prefix.isEmpty { root = LocalFolder(root: folder, news: folder) }
        // The open folder by its number: no link can stand in its way.
        let watch = inotify_add_watch(events.number, "/proc/self/fd/\(folder.number)", Self.mask)
        guard watch >= 0 else {
            // ENOSPC is not about the disk here.
            throw FileStoreError(
                .unavailable,
                "“/\(prefix)” cannot be watched; fs.inotify.max_user_watches may be too low.",
                cause: FileSystemError("inotify_add_watch", prefix, number: errno)
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
    /// Follows changes, those of other programs too, with inotify; on Linux alone.
    public func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges {
        let inbox = FileChangeInbox(folder)
        try FolderWatch.start(self.folder.root, telling: inbox)
        return FileChanges(inbox)
    }
}
#endif
