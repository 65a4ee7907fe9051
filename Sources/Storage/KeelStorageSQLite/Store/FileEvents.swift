#if SQLite
#if canImport(Darwin)
internal import Darwin
internal import Dispatch
#elseif os(Linux)
internal import KeelCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif
#endif

/// Reports writes to a file, by inotify(7) or kqueue(2).
///
/// `@unchecked`: the source is immutable except for its cancellation, which is safe from any thread.
final class FileEvents: @unchecked Sendable {
    #if os(Linux)
    private let inotify: Inotify
    #elseif canImport(Darwin)
    private let source: any DispatchSourceProtocol

    private static let queue = DispatchQueue(label: "keel.storage.events", qos: .utility)
    #endif

    /// Watches a file, and calls `onEvent` after each change with whether the file is gone.
    ///
    /// Returns nil if the file does not exist, or the system cannot report its writes.
    ///
    /// On Apple platforms, this opens the file, and closing it drops the process's locks on it: do not use a file that
    /// SQLite locks.
    init?(of path: String, onEvent: @escaping @Sendable (_ isGone: Bool) -> Void) {
        #if os(Linux)
        guard let inotify = try? Inotify(),
            (try? inotify.watch(path, for: UInt32(IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF)))
                != nil
        else { return nil }
        self.inotify = inotify
        let end = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)
        inotify.follow { events in onEvent(events.contains { $0.mask & end != 0 }) }
        #elseif canImport(Darwin)
        let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let source = DispatchSource.makeFileSystemObjectSource(
            fileDescriptor: descriptor,
            eventMask: [.write, .extend, .delete, .rename, .revoke],
            queue: Self.queue
        )
        source.setEventHandler { [unowned source] in
            onEvent(!source.data.isDisjoint(with: [.delete, .rename, .revoke]))
        }
        source.setCancelHandler { close(descriptor) }
        self.source = source
        source.activate()
        #else
        return nil
        #endif
    }

    #if canImport(Darwin)
    deinit { source.cancel() }
    #endif
}
#endif
