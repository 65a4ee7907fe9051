#if os(Linux)
internal import Dispatch

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Follows changes of files and folders, by inotify(7).
///
/// `@unchecked`: the source is set once and cancelled from any thread, and the system's calls take
/// any thread's.
package final class Inotify: @unchecked Sendable {
    /// A change that the system tells of.
    package struct Event: Sendable {
        /// What ``watch(_:for:)`` returned for the file or folder; -1 where events were lost.
        package let watch: Int32
        /// What happened, in the bits of inotify(7).
        package let mask: UInt32
        /// The name in the folder that is watched; empty where it is about the watched one itself.
        package let name: String
    }

    private let descriptor: Int32
    private var source: (any DispatchSourceProtocol)?

    /// Opens an instance, which watches nothing.
    ///
    /// - Throws: What the system says, for example that there are too many instances.
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

    /// Watches a file or folder.
    ///
    /// - Parameters:
    ///   - path: The file or folder.
    ///   - mask: What is to be told of it, in the bits of inotify(7).
    /// - Returns: The number that its events have.
    /// - Throws: What the system says.
    package func watch(_ path: String, for mask: UInt32) throws(FileSystemError) -> Int32 {
        let watch = inotify_add_watch(descriptor, path, mask)
        guard watch >= 0 else {
            throw FileSystemError("inotify_add_watch", path, number: errno)
        }
        return watch
    }

    /// Watches something no more.
    package func unwatch(_ watch: Int32) { inotify_rm_watch(descriptor, watch) }

    /// Begins to tell of events, on a queue of its own; called once.
    ///
    /// - Parameter handle: Takes what has happened, in its order. It is kept until ``cancel()``.
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

    /// Ends all that ``follow(_:)`` has begun.
    package func cancel() { source?.cancel() }

    /// Takes all that the system has to tell.
    private static func events(of descriptor: Int32) -> [Event] {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var events: [Event] = []
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return events }
            buffer.prefix(count).withUnsafeBytes { bytes in
                // Each is an `inotify_event` with a name of some length behind it.
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
