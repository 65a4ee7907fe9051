/// The faults of the requests that reach an origin, in order.
///
/// Requests after the last fault succeed. A schedule drawn from a seed is reproducible: print the seed in the test.
public struct FaultSchedule: Sendable, Hashable, CustomStringConvertible {
    /// The faults in the order of the requests; nil lets a request succeed.
    public var faults: [Fault?]

    /// Creates a schedule.
    public init(_ faults: [Fault?]) { self.faults = faults }

    /// Draws a random schedule of `count` entries, each of which is a fault with the probability `rate`, from 0 to 1.
    public static func random(
        _ count: Int,
        rate: Double,
        from faults: [Fault] = Fault.usual,
        using generator: inout some RandomNumberGenerator
    ) -> FaultSchedule {
        FaultSchedule(
            (0..<count).map { _ in
                guard Double.random(in: 0..<1, using: &generator) < rate else { return nil }
                return faults.randomElement(using: &generator)
            }
        )
    }

    /// The faults on one line, for a test's message.
    public var description: String {
        faults.map { $0.map { "\($0)" } ?? "-" }.joined(separator: " ")
    }
}

extension FaultSchedule {
    /// A fault in one request.
    public enum Fault: Sendable, Hashable {
        /// The connection is refused; nothing is sent.
        case refused
        /// The reused connection was already closed; no byte was sent.
        case staleUnsent
        /// The reused connection was already closed; the request was sent and is lost.
        case staleSent
        /// The server refuses the HTTP/2 stream without processing the request.
        case streamRefused
        /// The request is lost in transit; the client sees a lost connection.
        case lostRequest
        /// The server processes the request, and the response is lost in transit.
        case lostReply
        /// The server processes the request and stays silent for this long, the client's timeout.
        case silence(Duration)
        /// The server responds with this status without processing the request.
        case status(Int)
        /// The server processes the request but responds with this status.
        case statusAfterProcessing(Int)
        /// The server responds with status 429 and asks for a pause of this many seconds.
        case throttled(seconds: Int)
        /// The server processes the request, and the body of the response is truncated.
        case truncated
        /// The server processes the request, and the body arrives byte by byte with pauses.
        case drip(Duration)
        /// The server redirects the client without processing the request.
        case redirect(status: Int)

        /// Faults of each kind, with the usual statuses of failing servers and proxies.
        public static let usual: [Fault] = [
            .refused, .staleUnsent, .staleSent, .streamRefused, .lostRequest, .lostReply,
            .silence(.seconds(10)), .status(408), .status(421), .status(425), .status(500),
            .status(502), .status(503), .status(504), .statusAfterProcessing(500),
            .statusAfterProcessing(502), .statusAfterProcessing(504), .throttled(seconds: 0),
            .throttled(seconds: 2), .throttled(seconds: 3600), .truncated,
            .drip(.milliseconds(200)), .redirect(status: 307), .redirect(status: 303),
            .redirect(status: 302), .redirect(status: 308),
        ]
    }
}
