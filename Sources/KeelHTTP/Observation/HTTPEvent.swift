public import HTTPTypes
import Synchronization

/// Something that happened to a call: for logs, metrics, traces and inspectors.
///
/// No event holds a header field's value, a query or a byte of a body, except the heads in
/// ``Moment/sending(_:)`` and ``Moment/received(_:_:)``, which an observer must redact before it
/// writes them anywhere.
public struct HTTPEvent: Sendable {
    /// The call that it happened to.
    public var call: HTTPCallID

    /// The attempt that it happened in, counted from 1.
    public var attempt: Int

    /// The request of the call that it happened to, counted from 1 in the order of sending; nil for
    /// what concerns no single request.
    ///
    /// An attempt is several requests where it is redirected, hedged, or signed anew after a
    /// refusal: they share ``attempt`` and differ here.
    public var request: Int?

    /// How much time had passed since the call began.
    public var elapsed: Duration

    /// The moment of the call.
    public var moment: Moment

    /// Creates an event.
    public init(
        call: HTTPCallID,
        attempt: Int,
        request: Int? = nil,
        elapsed: Duration,
        moment: Moment
    ) {
        self.call = call
        self.attempt = attempt
        self.request = request
        self.elapsed = elapsed
        self.moment = moment
    }

    /// The moments of a call; later versions may add more.
    public enum Moment: Sendable {
        /// The client took the call on; the head is as the endpoint made it.
        case started(HTTPRequest)
        /// An attempt is handed to the transport, with the head that is sent.
        case sending(HTTPRequest)
        /// The attempt entered a phase, such as looking the host up or opening a connection; told
        /// by transports that know.
        case entered(TransportError.Phase)
        /// The exchange has a connection; told by transports that know.
        case connected(ConnectionInfo)
        /// The head of the request was handed to the network; told by transports that know.
        case sentHead
        /// The last byte of the request was handed to the network, with the bytes of its body.
        case sentBody(bytes: Int64)
        /// The head of the final response arrived.
        case received(HTTPResponse, ConnectionInfo?)
        /// The last byte of the response was read, with the bytes of its body.
        case receivedBody(bytes: Int64)
        /// The rest of the response was not wanted, after so many bytes of its body.
        case droppedBody(bytes: Int64)
        /// The attempt failed.
        case attemptFailed(TransportError)
        /// The call goes on at another address, without its query here.
        case redirected(to: String, status: Int)
        /// The call will be repeated after a pause; the reason is a code's name or a status.
        case retrying(after: Duration, reason: String)
        /// The call is not repeated although its outcome is one that may pass.
        case notRetried(RetryRefusal)
        /// The call shares the exchange of another one that was under way.
        case joined(HTTPCallID)
        /// A second request was sent beside a slow one.
        case hedged
        /// A cached response was used, with how fresh it was.
        case cached(String)
        /// The call waits for a place, or was let through after a wait.
        case queued(Bool)
        /// The call's credentials were renewed.
        case credentialsRenewed
        /// A circuit changed its state, which is named.
        case circuit(String)
        /// The call ended with a complete response or with a body handed to the caller.
        case succeeded(status: Int)
        /// The call ended with an error.
        case failed(TransportError)
    }
}

/// A type that looks at the events of calls.
public protocol HTTPEventObserver: Sendable {
    /// Takes note of an event; called on the path of the call, so it must be quick.
    func observe(_ event: HTTPEvent)
}

/// Passes the events of one call to those who look at it.
package struct HTTPEventRecorder: Sendable {
    private let observers: [any HTTPEventObserver]
    private let elapsed: @Sendable () -> Duration
    private let requests = RequestCount()
    /// The request whose events are recorded; nil for those of the whole call.
    private var request: Int?

    /// Starts the time of a call; nil where nobody looks.
    package init?(_ observers: [any HTTPEventObserver], clock: any Clock<Duration>) {
        guard !observers.isEmpty else { return nil }
        self.observers = observers
        elapsed = Self.stopwatch(clock)
    }

    package func record(_ moment: HTTPEvent.Moment, id: HTTPCallID, attempt: Int) {
        let event = HTTPEvent(
            call: id,
            attempt: attempt,
            request: request,
            elapsed: elapsed(),
            moment: moment
        )
        for observer in observers { observer.observe(event) }
    }

    /// Begins one more request of the call: events recorded here are its own from now on.
    mutating func beginRequest() { request = requests.next() }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

/// Counts the requests of one call, some of which may be under way at the same time.
private final class RequestCount: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
