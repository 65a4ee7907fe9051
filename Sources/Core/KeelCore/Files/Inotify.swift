#if os(Linux)
internal import Dispatch

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Reports changes of files and folders by inotify(7).
///
/// `@unchecked` because of the dispatch source: it is set once and may be canceled from any thread, and the system
/// calls are thread-safe.
package final class Inotify: @unchecked Sendable {
    package struct Event: Sendable {
        /// The number that ``watch(_:for:)`` returned for the file or folder; -1 if events were lost.
        package let watch: Int32
        /// The kinds of the change, as a mask of inotify(7).
        package let mask: UInt32
        /// The name within the watched folder; empty for a change of the watched file or folder itself.
        package let name: String
    }

    private let descriptor: Int32
    private var source: (any DispatchSourceProtocol)?

    /// Opens an instance that watches nothing yet; throws the system's error, for example for too many instances.
    package init() throws(FileSystemError) {
        let descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else {
            throw FileSystemError("inotify_init1", "", number: errno)
        }
        self.descriptor = descriptor
    }

    deinit {
        if let source { source.cancel() } else { close(descriptor) }
    }

    /// Watches a file or folder for a mask of changes, and returns the number that identifies its events.
    package func watch(_ path: String, for mask: UInt32) throws(FileSystemError) -> Int32 {
        let watch = inotify_add_watch(descriptor, path, mask)
        guard watch >= 0 else {
            throw FileSystemError("inotify_add_watch", path, number: errno)
        }
        return watch
    }

    package func unwatch(_ watch: Int32) { inotify_rm_watch(descriptor, watch) }

    /// Starts to report events on a private queue; call it once.
    ///
    /// `handle` is retained until ``cancel()``.
    package func follow(_ handle: @escaping @Sendable ([Event]) -> Void) {
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor,
            queue: DispatchQueue(label: "keel.inotify", qos: .utility)
        )
        source.setEventHandler { [descriptor] in handle(Self.events(of: descriptor)) }
        source.setCancelHandler { [descriptor] in _ = close(descriptor) }
        self.source = source
        source.activate()
    }

    package func cancel() { source?.cancel() }

    private static func events(of descriptor: Int32) -> [Event] {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var events: [Event] = []
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return events }
            buffer.prefix(count).withUnsafeBytes { bytes in
                // Each is an `inotify_event`, followed by a name of variable length.
                var position = 0
                while position + 16 <= bytes.count {
                    let length = bytes.loadUnaligned(fromByteOffset: position + 12, as: UInt32.self)
                    let end = position + 16 + Int(length)
                    let name = bytes[(position + 16)..<end].prefix { $0 != 0 }
                    events.append(
                        Event(
                            watch: bytes.loadUnaligned(fromByteOffset: position, as: Int32.self),
                            mask: bytes.loadUnaligned(
                                fromByteOffset: position + 4,
                                as: UInt32.self
                            ),
                            name: String(decoding: name, as: UTF8.self)
                        )
                    )
                    position = end
                }
            }
        }
    }
}
#endif
