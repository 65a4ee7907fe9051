/// What goes wrong with the requests that reach an origin, one after the other.
///
/// After the last fault, all goes well. A schedule that is drawn from a seed is the same each time:
/// a test prints the seed, and a failure can be repeated.
public struct FaultSchedule: Sendable, Hashable, CustomStringConvertible {
    /// The faults in the order of the requests; nil is none.
    public var faults: [Fault?]

    /// Creates a schedule.
    public init(_ faults: [Fault?]) { self.faults = faults }

    /// Draws a schedule.
    ///
    /// - Parameters:
    ///   - count: How many requests it is for.
    ///   - rate: The part of the requests that a fault meets, from 0 to 1.
    ///   - faults: The faults to draw from.
    ///   - generator: Where it is drawn from.
    /// - Returns: A schedule with `count` entries.
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

    /// The faults, fit for a test's message.
    public var description: String {
        faults.map { $0.map { "\($0)" } ?? "-" }.joined(separator: " ")
    }
}

extension FaultSchedule {
    /// Something that can go wrong with one request.
    public enum Fault: Sendable, Hashable {
        /// The connection is refused: nothing is sent.
        case refused
        /// The kept connection had been closed; no byte was sent.
        case staleUnsent
        /// The kept connection had been closed; the request was on its way, and is lost.
        case staleSent
        /// The server refuses the stream of HTTP/2 without looking at the request.
        case streamRefused
        /// The request is lost on its way; the client sees a lost connection.
        case lostRequest
        /// The server does the work, and its answer is lost on its way.
        case lostReply
        /// The server does the work and is silent until the client's patience, this long, is over.
        case silence(Duration)
        /// The server answers with this status without having done the work.
        case status(Int)
        /// The server does the work and answers with this status all the same.
        case statusAfterWork(Int)
        /// The server asks to be left alone for this many seconds: status 429.
        case throttled(seconds: Int)
        /// The server does the work, and the body of its answer breaks off.
        case truncated
        /// The server does the work, and the body comes in single bytes with pauses.
        case drip(Duration)
        /// The server sends the client elsewhere, without having done the work.
        case redirect(status: Int)

        /// One of each kind, and the statuses of servers and proxies in trouble.
        public static let usual: [Fault] = [
            .refused, .staleUnsent, .staleSent, .streamRefused, .lostRequest, .lostReply,
            .silence(.seconds(10)), .status(408), .status(421), .status(425), .status(500),
            .status(502), .status(503), .status(504), .statusAfterWork(500),
            .statusAfterWork(502), .statusAfterWork(504), .throttled(seconds: 0),
            .throttled(seconds: 2), .throttled(seconds: 3600), .truncated,
            .drip(.milliseconds(200)), .redirect(status: 307), .redirect(status: 303),
            .redirect(status: 302), .redirect(status: 308),
        ]
    }
}
