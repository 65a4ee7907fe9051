public import HTTPTypes

/// One request on its way to a transport.
public struct HTTPCall: Sendable {
    /// Names the call in events, errors and logs; the same for all its attempts and redirects.
    public let id: HTTPCallID

    /// The method, the absolute target (scheme, authority, path with query) and the header fields.
    public var head: HTTPRequest

    /// The request body, if there is one.
    public var body: HTTPBody?

    /// The limits inside the exchange.
    public var timeouts: HTTPTimeouts

    /// The call's options for the layers it passes; other calls are not affected.
    public var options: HTTPCallOptions

    /// Takes the interim responses (RFC 9110 section 15.2) that come before the response; nil drops them.
    ///
    /// It is called with the head of each, in their order, but for 100 and 101, which concern the
    /// connection. An attempt that is repeated may have brought some. A layer that answers itself, such as
    /// a cache, brings none, and an exchange that several calls share tells the call that began it. Some
    /// may come after the response, of an exchange that goes on for others: drop those. It must return at
    /// once: a transport calls it where it reads the network.
    ///
    /// `AsyncHTTPClientTransport` calls it; URLSession keeps interim responses to itself.
    public var onInterimResponse: (@Sendable (_ head: HTTPResponse) -> Void)?

    /// Which attempt of the call this is, counted from 1; a layer that repeats a call counts on.
    public var attempt = 1

    /// Where the events of this call go; nil where nobody looks.
    package var recorder: HTTPEventRecorder?

    /// When the call must be over, where that is limited.
    package var deadline: Deadline?

    /// Whether the transport, and not the client, ends the exchange at the deadline; only one that is
    /// ``DeadlineKeeping`` is asked for it, and for no body that is produced on the way.
    package var endsAtDeadline = false

    /// How the body of the final response is read into memory; nil leaves it a stream.
    package var collection: BodyCollection?

    /// Creates a call.
    public init(
        _ head: HTTPRequest,
        body: HTTPBody? = nil,
        timeouts: HTTPTimeouts = HTTPTimeouts(),
        options: HTTPCallOptions = HTTPCallOptions(),
        id: HTTPCallID = HTTPCallID()
    ) {
        self.id = id
        self.head = head
        self.body = body
        self.timeouts = timeouts
        self.options = options
    }

    /// Whether the call can be sent a second time with the same bytes.
    public var isReplayable: Bool { body?.isReplayable ?? true }

    /// The target without user information, query and fragment, fit for logs and errors.
    ///
    /// A query often carries tokens and personal data, so no part of it is kept.
    public var redactedURL: String { head.redactedURL }

    /// Whether anybody looks at the events of this call.
    ///
    /// A layer asks before it gathers what an event takes.
    public var isObserved: Bool { recorder != nil }

    /// Tells those who look at this call what has happened.
    ///
    /// Middleware and transports call it. It costs next to nothing where nobody looks.
    public func record(_ moment: @autoclosure () -> HTTPEvent.Moment) {
        guard let recorder else { return }
        recorder.record(moment(), id: id, attempt: attempt)
    }
}

/// Names one call among all calls of a process.
public struct HTTPCallID: Sendable, Hashable, CustomStringConvertible {
    /// The number behind the name.
    public let number: UInt64

    /// Creates a name from a number.
    public init(_ number: UInt64) { self.number = number }

    /// Creates a random name.
    public init() { number = UInt64.random(in: .min ... .max) }

    /// Sixteen hexadecimal digits.
    public var description: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension HTTPRequest {
    /// Scheme, host, port and path: the parts of the target that may be logged.
    package var redactedURL: String {
        let place = (authority ?? "").split(separator: "@").last ?? ""
        let visiblePath = (path ?? "").utf8.prefix {
            $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        return "\(scheme ?? "http")://\(place)\(Substring(visiblePath))"
    }
}
