public import HTTPTypes
internal import KeelCore

/// One request on its way to a transport.
public struct HTTPCall: Sendable {
    /// The identifier of the call in events, errors and logs; all attempts and redirects share it.
    public let id: HTTPCallID

    /// The method, the absolute target (scheme, authority, path with query) and the header fields.
    public var head: HTTPRequest

    /// The request body, if there is one.
    public var body: HTTPBody?

    /// The time limits inside the exchange.
    public var timeouts: HTTPTimeouts

    /// The options for the layers.
    public var options: HTTPCallOptions

    /// A closure that receives the interim responses (RFC 9110 section 15.2) before the response, except 100 and 101;
    /// nil drops them.
    ///
    /// It must return immediately: a transport calls it where it reads the network. Attempts that are repeated report
    /// theirs as well. A layer that answers the call itself, such as a cache, reports none. An exchange that several
    /// calls share reports to the call that started it, possibly after that call's response: ignore those.
    ///
    /// `AsyncHTTPClientTransport` calls it; URLSession does not expose interim responses.
    public var onInterimResponse: (@Sendable (_ head: HTTPResponse) -> Void)?

    /// The number of this attempt, counted from 1; each retry increments it.
    public var attempt = 1

    package var recorder: HTTPEventRecorder?

    package var deadline: Deadline?

    /// The time of a call that several callers share; see ``shared()``.
    private(set) var sharedTime: Duration?

    /// Whether the transport and the layers, rather than the client, end the call at its deadline.
    ///
    /// Set only if all of them keep deadlines, and never with a body that is produced while it is sent.
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

    /// Returns the call without its deadline, for an exchange that several callers share.
    ///
    /// The time that the first caller has left still limits the silence of an attempt, as on a dead connection.
    package func shared() -> HTTPCall {
        var shared = self
        shared.sharedTime = deadline?.remaining ?? sharedTime
        shared.deadline = nil
        return shared
    }

    /// The time that an exchange of the call may take; nil means no limit.
    var remainingTime: Duration? { deadline?.remaining ?? sharedTime }

    /// Whether the body can be sent again; true without a body.
    public var isReplayable: Bool { body?.isReplayable ?? true }

    /// The target without user information, query and fragment, safe for logs and errors.
    public var redactedURL: String { head.redactedURL }

    /// Whether anyone observes the events of this call.
    public var isObserved: Bool { recorder != nil }

    /// Reports an event to the call's observers; costs next to nothing without any.
    public func record(_ kind: @autoclosure () -> HTTPEvent.Kind) {
        guard let recorder else { return }
        recorder.record(kind(), id: id, attempt: attempt)
    }
}

/// The identifier of a call.
public struct HTTPCallID: Sendable, Hashable, CustomStringConvertible {
    /// The number.
    public let number: UInt64

    /// Creates an identifier from a number.
    public init(_ number: UInt64) { self.number = number }

    /// Creates a random identifier.
    public init() { number = UInt64.random(in: .min ... .max) }

    /// Sixteen hexadecimal digits.
    public var description: String { number.digits(16, radix: 16) }
}

extension HTTPField.Name {
    /// Returns a field name.
    ///
    /// - Precondition: `name` is a token (RFC 9110 section 5.6.2).
    package static func known(_ name: String) -> Self {
        guard let name = Self(name) else { preconditionFailure("“\(name)” is not a token.") }
        return name
    }
}

extension HTTPRequest.Method {
    /// The name of a well-known method, and `_OTHER` for any other.
    package var boundedName: String {
        let known: Set<Self> = [
            .get, .head, .post, .put, .delete, .connect, .options, .trace, .patch,
        ]
        return known.contains(self) ? rawValue : "_OTHER"
    }
}

extension HTTPRequest {
    /// The scheme, host, port and path: the parts of the target that may be logged.
    package var redactedURL: String {
        let place = (authority ?? "").split(separator: "@").last ?? ""
        let visiblePath = (path ?? "").utf8.prefix {
            $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        return "\(scheme ?? "http")://\(place)\(Substring(visiblePath))"
    }
}
