#if SQLite
internal import Dispatch

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Tells when a file is written to, by inotify(7) or kqueue(2).
///
/// `@unchecked`: the source is cancelled and otherwise left alone, and any thread may cancel it.
final class FileEvents: @unchecked Sendable {
    private let source: any DispatchSourceProtocol

    private static let queue = DispatchQueue(label: "keel.storage.events", qos: .utility)

    /// Begins to follow a file; nil if there is no such file, or the system does not tell.
    ///
    /// Nothing is opened on Linux. On Apple's systems the file is, and closing it drops the locks that the
    /// process holds on it: let it be no file that SQLite locks.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - onEvent: Called after a change, with whether the file is gone.
    init?(of path: String, onEvent: @escaping @Sendable (_ isGone: Bool) -> Void) {
        #if canImport(Darwin)
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
        #elseif os(Linux)
        let descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        guard inotify_add_watch(descriptor, path, Self.mask) >= 0 else {
            close(descriptor)
            return nil
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
        source.setEventHandler { onEvent(Self.isGone(afterReading: descriptor)) }
        source.setCancelHandler { close(descriptor) }
        #else
        return nil
        #endif
        #if canImport(Darwin) || os(Linux)
        self.source = source
        source.activate()
        #endif
    }

    deinit { source.cancel() }

    #if os(Linux)
    private static let mask = UInt32(IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF)

    /// Takes all that the system has told.
    private static func isGone(afterReading descriptor: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var isGone = false
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return isGone }
            buffer.withUnsafeBytes { bytes in
                // Each is an `inotify_event` with a name of some length behind it.
                var position = 0
                while position + 16 <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self)
                    let length = bytes.loadUnaligned(fromByteOffset: position + 12, as: UInt32.self)
                    let end = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)
                    if event & end != 0 { isGone = true }
                    position += 16 + Int(length)
                }
            }
        }
    }
    #endif
}
#endif
