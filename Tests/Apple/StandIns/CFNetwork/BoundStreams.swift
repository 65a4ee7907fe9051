public import Foundation
internal import Synchronization

// The parts of Foundation that the URLSession transport calls and that are missing on Linux. On Apple's systems, a
// module of this name contains the URL loading system, and Foundation's headers import it.

extension Stream {
    /// Creates a pair of streams, in which one reads what is written to the other.
    public static func getBoundStreams(
        withBufferSize bufferSize: Int,
        inputStream: inout InputStream?,
        outputStream: inout OutputStream?
    ) {
        let buffer = BoundBuffer(bufferSize)
        inputStream = BoundInputStream(buffer)
        outputStream = BoundOutputStream(buffer)
    }
}

/// The bytes between two streams.
private final class BoundBuffer: Sendable {
    struct State {
        var bytes: [UInt8] = []
        var isReaderOpen = true
        var isWriterOpen = true
    }

    let size: Int
    let state = Mutex(State())

    init(_ size: Int) { self.size = size }
}

private final class BoundInputStream: InputStream {
    private let buffer: BoundBuffer

    init(_ buffer: BoundBuffer) {
        self.buffer = buffer
        super.init(data: Data())
    }

    override func open() {}
    override func close() { buffer.state.withLock { $0.isReaderOpen = false } }
    override var hasBytesAvailable: Bool { buffer.state.withLock { !$0.bytes.isEmpty } }

    override var streamStatus: Stream.Status {
        buffer.state.withLock { state in
            guard state.isReaderOpen else { return .closed }
            return state.bytes.isEmpty && !state.isWriterOpen ? .atEnd : .open
        }
    }

    override func read(_ target: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        buffer.state.withLock { state in
            let some = state.bytes.prefix(maxLength)
            for (offset, byte) in some.enumerated() { target[offset] = byte }
            state.bytes.removeFirst(some.count)
            return some.count
        }
    }
}

private final class BoundOutputStream: OutputStream {
    private let buffer: BoundBuffer

    init(_ buffer: BoundBuffer) {
        self.buffer = buffer
        super.init(toMemory: ())
    }

    required init(toMemory: ()) {
        buffer = BoundBuffer(0)
        super.init(toMemory: ())
    }

    override func open() {}
    override func close() { buffer.state.withLock { $0.isWriterOpen = false } }

    override var hasSpaceAvailable: Bool {
        buffer.state.withLock { !$0.isReaderOpen || $0.bytes.count < buffer.size }
    }

    override func write(_ bytes: UnsafePointer<UInt8>, maxLength: Int) -> Int {
        buffer.state.withLock { state in
            guard state.isReaderOpen else { return -1 }
            let count = min(maxLength, buffer.size - state.bytes.count)
            state.bytes += UnsafeBufferPointer(start: bytes, count: count)
            return count
        }
    }
}
