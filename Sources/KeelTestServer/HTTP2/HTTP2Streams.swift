#if TestServer
import KeelTestKit

/// The streams of one HTTP/2 connection, and how much may be sent on them.
struct HTTP2Streams: Sendable {
    struct Stream: Sendable {
        /// The request's number in the journal.
        var request: Int
        /// How many bytes may be sent on it.
        var window: Int
        /// How many bytes of the request are read; the client is allowed no more after them.
        var readLimit: Int
        /// How many bytes of the request have come.
        var received = 0
        /// The answer that was taken from the queue with the head.
        var queued: HTTPTestAnswer?
        /// The code with which the client has reset it.
        var resetCode: UInt32?
    }

    private(set) var streams: [UInt32: Stream] = [:]
    private var window = 65_535
    private var initialWindow = 65_535
    /// How many streams wait for the end of their answers.
    private var unanswered = 0
    private var isGoingAway = false
    /// Whether the server has ended the connection, so that no end is a client's hang-up.
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

    /// Notes the end of an answer.
    ///
    /// - Returns: Whether the connection is to be closed with it.
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
            // SETTINGS_INITIAL_WINDOW_SIZE; the others do not concern a server that only answers.
            guard entry[0] == 0, entry[1] == 4 else { continue }
            let size = Int(UInt32(bigEndianBytes: entry[2...]))
            for id in streams.keys { streams[id]?.window += size - initialWindow }
            initialWindow = size
        }
    }

    mutating func allow(_ count: Int, on id: UInt32) {
        if id == 0 { window += count } else { streams[id]?.window += count }
    }

    /// Takes room for at most `count` bytes; nil when there is none yet.
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
