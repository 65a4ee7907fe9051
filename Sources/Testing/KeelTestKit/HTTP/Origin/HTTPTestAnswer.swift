public import HTTPTypes

/// An answer of a test server to one request, including its faults.
///
/// `FaultServer` of KeelTestServer sends it over real sockets, as HTTP/1.1 or HTTP/2; `InProcessHTTPNetwork` delivers
/// it in process. Start from a factory and modify the answer:
///
/// ```swift
/// let slow = HTTPTestAnswer.text("Hello").delayed(by: .seconds(2))
/// let broken = HTTPTestAnswer.json(#"{"id": 1}"#).interrupted(.insideBody(after: 4), by: .reset)
/// ```
public struct HTTPTestAnswer: Sendable, Hashable {
    /// The status and the header fields; length and coding are added according to ``framing``.
    public var head: HTTPResponse

    /// The body, in the chunks in which it is written.
    public var body: [[UInt8]]

    /// The trailers; in HTTP/1.1, with automatic framing, they make the body chunked.
    public var trailers: HTTPFields?

    /// The informational (1xx) heads that precede the answer.
    public var informational: [HTTPResponse] = []

    /// How the end of the body is marked.
    public var framing: Framing = .automatic

    /// The delay before anything is sent.
    public var delay: Duration?

    /// The speed at which the body is sent; nil sends it as fast as the client reads.
    public var throttle: Throttle?

    /// The interruption of the answer, if any.
    public var interruption: Interruption?

    /// Raw bytes that are sent in place of the head and the body.
    public var rawBytes: [UInt8]?

    /// How much of the request is read before the answer; nil applies the server's default.
    public var reading: Reading?

    /// Creates an answer with a status from 200 to 999; fields are sent in this order, and the body in these chunks.
    public init(
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:],
        body: [[UInt8]] = []
    ) {
        head = HTTPResponse(status: status, headerFields: headers)
        self.body = body
    }

    /// How the end of a body is marked.
    public enum Framing: Sendable, Hashable {
        /// By its length, or in chunks if there are trailers.
        case automatic
        /// By this length, whether it is correct or not.
        case length(Int)
        /// In chunks (HTTP/1.1), or without a length (HTTP/2).
        case chunked
        /// By the end of the connection (HTTP/1.1), or without a length (HTTP/2).
        case untilClose
    }

    /// A speed: a number of bytes at a time, with pauses in between.
    public struct Throttle: Sendable, Hashable {
        /// The number of bytes sent at a time, at least 1.
        public var bytes: Int
        /// The length of the pauses, on the server's clock.
        public var interval: Duration

        /// Creates a speed; raises `bytes` to at least 1.
        public init(bytes: Int, every interval: Duration) {
            self.bytes = max(1, bytes)
            self.interval = interval
        }
    }

    /// How much of a request is read before it is answered.
    public enum Reading: Sendable, Hashable {
        /// The whole request.
        case wholeRequest
        /// The head; the body is read while the answer is sent.
        case headFirst
        /// The head and this many bytes of the body, rounded up to whole pieces; the rest is never read.
        ///
        /// The connection cannot be reused. With 0 the server reads none of the body.
        case atMost(Int)
    }

    /// An action at a place in the answer; nothing of the answer follows it.
    public struct Interruption: Sendable, Hashable {
        /// The place.
        public var place: Place
        /// The action.
        public var action: Action

        /// Creates an interruption.
        public init(_ place: Place, _ action: Action) {
            self.place = place
            self.action = action
        }
    }

    /// A place in an answer.
    public enum Place: Sendable, Hashable {
        /// Before anything is sent.
        case beforeHead
        /// After a part of the head.
        ///
        /// In HTTP/2 the first half of the head is a frame of its own.
        case insideHead
        /// After the head and this many bytes of the body.
        case insideBody(after: Int)
        /// After the whole answer, so that its reader does not notice.
        case afterBody
    }

    /// An action of the server that ends the answer.
    public enum Action: Sendable, Hashable {
        /// Sends nothing until the client disconnects.
        case stall
        /// Closes the connection gracefully.
        case close
        /// Closes the connection without TLS's close notification, like a truncation attack.
        ///
        /// Without TLS it is ``close``.
        case cut
        /// Resets the connection, as a crash of the peer does.
        case reset
        /// Ends the stream with this HTTP/2 error code; in HTTP/1.1 it resets the connection.
        case resetStream(code: UInt32)
        /// Sends an HTTP/2 GOAWAY frame and ends the remaining streams.
        ///
        /// `processed` says whether the frame counts this request as processed; if so, the request's stream is closed
        /// with it. In HTTP/1.1 the connection is closed.
        case goAway(code: UInt32, processed: Bool)
        /// Sends these raw bytes, then closes the connection.
        case bytes([UInt8])
    }
}
