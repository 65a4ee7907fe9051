public import HTTPTypes

/// What a test's server answers to one request, with whatever is to go wrong.
///
/// A plain value: `FaultServer` of KeelTestServer gives it over real sockets, in HTTP/1.1 or
/// HTTP/2; `InProcessHTTPNetwork` gives it without any. Start from a factory and add to it:
///
/// ```swift
/// let slow = HTTPTestAnswer.text("Hello").delayed(by: .seconds(2))
/// let broken = HTTPTestAnswer.json(#"{"id": 1}"#).interrupted(.insideBody(after: 4), by: .reset)
/// ```
public struct HTTPTestAnswer: Sendable, Hashable {
    /// The status and the header fields; length and coding are added as ``framing`` says.
    public var head: HTTPResponse

    /// The body, in the pieces in which it is written.
    public var body: [[UInt8]]

    /// The fields after the body; they make an HTTP/1.1 body chunked.
    public var trailers: HTTPFields?

    /// The informational (1xx) heads that go before.
    public var informational: [HTTPResponse] = []

    /// How the reader learns where the body ends.
    public var framing: Framing = .automatic

    /// How long the server waits before it sends anything.
    public var delay: Duration?

    /// How fast the body is sent; nil sends it as fast as it is taken.
    public var throttle: Throttle?

    /// What happens in the midst of the answer, if anything.
    public var interruption: Interruption?

    /// Bytes that are sent in place of the head and the body, as they are.
    public var rawBytes: [UInt8]?

    /// How much of the request is read before the answer; nil leaves it to the server.
    public var reading: Reading?

    /// Creates an answer.
    ///
    /// - Parameters:
    ///   - status: The status; any number from 200 to 999 will do.
    ///   - headers: The header fields, sent in this order.
    ///   - body: The body, in the pieces in which it is written.
    public init(
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:],
        body: [[UInt8]] = []
    ) {
        head = HTTPResponse(status: status, headerFields: headers)
        self.body = body
    }

    /// How the reader of a body learns where it ends.
    public enum Framing: Sendable, Hashable {
        /// By its length, or in chunks where there are trailers.
        case automatic
        /// By this length, right or wrong.
        case length(Int)
        /// In chunks (HTTP/1.1), or without a length (HTTP/2).
        case chunked
        /// By the end of the connection (HTTP/1.1), or without a length (HTTP/2).
        case untilClose
    }

    /// A speed: so many bytes at a time, with pauses in between.
    public struct Throttle: Sendable, Hashable {
        /// How many bytes are sent at a time.
        public var bytes: Int
        /// How long the pauses are, on the server's clock.
        public var interval: Duration

        /// Creates a speed.
        public init(bytes: Int, every interval: Duration) {
            self.bytes = max(1, bytes)
            self.interval = interval
        }
    }

    /// How much of a request is read before it is answered.
    public enum Reading: Sendable, Hashable {
        /// All of it.
        case wholeRequest
        /// The head; the body is read while the answer is given.
        case headFirst
        /// The head and so many bytes of the body; the rest is never read.
        ///
        /// The connection cannot be used again. Nought bytes leave the client alone with its
        /// body, as a server does that has stopped reading.
        case atMost(Int)
    }

    /// Something that happens at a place of the answer; nothing of the answer follows it.
    public struct Interruption: Sendable, Hashable {
        /// Where it happens.
        public var place: Place
        /// What happens.
        public var action: Action

        /// Creates an interruption.
        public init(_ place: Place, _ action: Action) {
            self.place = place
            self.action = action
        }
    }

    /// A place in an answer.
    public enum Place: Sendable, Hashable {
        /// Nothing was sent.
        case beforeHead
        /// A part of the head was sent.
        ///
        /// HTTP/2 has a head's first half in a frame of its own.
        case insideHead
        /// The head and so many bytes of the body were sent.
        case insideBody(after: Int)
        /// The answer was sent to its end, so its reader does not notice.
        case afterBody
    }

    /// What a server can do instead of going on.
    public enum Action: Sendable, Hashable {
        /// It keeps silent until the client hangs up.
        case stall
        /// It closes the connection in order.
        case close
        /// It closes the connection without TLS's goodbye, which is how a truncation attack looks.
        ///
        /// Without TLS it is ``close``.
        case cut
        /// It resets the connection, as a crash of the peer does.
        case reset
        /// It ends the stream with this HTTP/2 error code; in HTTP/1.1 it resets the connection.
        case resetStream(code: UInt32)
        /// It says with an HTTP/2 GOAWAY that it takes no more requests, and ends what is left.
        ///
        /// `processed` tells whether the frame counts this request among those that were
        /// processed; then the request's stream is closed with it. In HTTP/1.1 it closes the
        /// connection.
        case goAway(code: UInt32, processed: Bool)
        /// It sends these bytes past all rules, then closes the connection.
        case bytes([UInt8])
    }
}
