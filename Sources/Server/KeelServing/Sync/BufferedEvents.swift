internal import Synchronization

/// The number of bytes of events that a server holds for listeners.
final class ByteCount: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    fileprivate func add(_ bytes: Int) { count.withLock { $0 += bytes } }
}

/// Bytes of events that are counted while they are in use.
///
/// Listeners with the same interest share the bytes, which are counted once.
final class BufferedEvents: Sendable {
    let bytes: [UInt8]
    private let total: ByteCount

    init(_ bytes: [UInt8], in total: ByteCount) {
        self.bytes = bytes
        self.total = total
        total.add(bytes.count)
    }

    deinit { total.add(-bytes.count) }
}
