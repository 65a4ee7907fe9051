#if TestServer
import KeelTestKit

/// The streams of an HTTP/2 connection, with their flow-control windows.
struct HTTP2Streams: Sendable {
    struct Stream: Sendable {
        /// The index of the request in the journal.
        var request: Int
        /// The number of bytes that may be sent.
        var window: Int
        /// The number of request bytes to read, after which the client's window is not extended.
        var readLimit: Int
        var received = 0
        /// The answer that was taken from the queue when the head arrived.
        var queued: HTTPTestAnswer?
        /// The error code of the client's reset.
        var resetCode: UInt32?
    }

    private(set) var streams: [UInt32: Stream] = [:]
    private var window = 65_535
    private var initialWindow = 65_535
    /// The number of streams with unfinished answers.
    private var unanswered = 0
    private var isGoingAway = false
    /// Whether the server has ended the connection, so that ends are not hang-ups of the client.
    var isEndedByServer = false

    subscript(id: UInt32) -> Stream? {
        get { streams[id] }
        set { streams[id] = newValue }
    }

    mutating func open(_ id: UInt32, request: Int, queued: HTTPTestAnswer?, readLimit: Int) {
        streams[id] = Stream(
            request: request,
            window: initialWindow,
            readLimit: readLimit,
            queued: queued
        )
        unanswered += 1
    }

    /// Records the end of an answer; returns whether to close the connection.
    mutating func finish() -> Bool {
        unanswered -= 1
        return isGoingAway && unanswered == 0
    }

    mutating func goAway() {
        isGoingAway = true
        isEndedByServer = true
    }

    mutating func applySettings(_ payload: ArraySlice<UInt8>) {
        var rest = payload
        while rest.count >= 6 {
            let entry = Array(rest.prefix(6))
            rest = rest.dropFirst(6)
            // SETTINGS_INITIAL_WINDOW_SIZE; the others do not affect a server that only answers.
            guard entry[0] == 0, entry[1] == 4 else { continue }
            let size = Int(UInt32(bigEndianBytes: entry[2...]))
            for id in streams.keys { streams[id]?.window += size - initialWindow }
            initialWindow = size
        }
    }

    mutating func allow(_ count: Int, on id: UInt32) {
        if id == 0 { window += count } else { streams[id]?.window += count }
    }

    /// Reserves at most `count` bytes of the windows, or returns nil if they are exhausted.
    mutating func reserve(_ count: Int, on id: UInt32) -> Int? {
        guard let stream = streams[id] else { return nil }
        let granted = min(count, window, stream.window, 16_384)
        guard granted > 0 else { return nil }
        window -= granted
        streams[id]?.window -= granted
        return granted
    }
}
#endif
