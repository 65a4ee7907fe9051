public import HTTPTypes
import KeelCore
import Synchronization

/// An event of a call, for logs, metrics, traces and inspectors.
///
/// Only the heads in ``Kind/started(_:)``, ``Kind/sending(_:)`` and ``Kind/received(_:_:)`` contain values of header
/// fields and queries: redact them before you record them.
public struct HTTPEvent: Sendable {
    /// The call of the event.
    public var call: HTTPCallID

    /// The attempt of the event, counted from 1 for each address of the call.
    public var attempt: Int

    /// The request within the call, counted from 1 in the order of sending; nil for events that do not concern a single
    /// request.
    ///
    /// An attempt that is hedged, or sent again after a refusal or on a new connection, consists of several requests.
    public var request: Int?

    /// The time since the start of the call.
    public var elapsed: Duration

    /// The kind of event, with its details.
    public var kind: Kind

    /// Creates an event.
    public init(
        call: HTTPCallID,
        attempt: Int,
        request: Int? = nil,
        elapsed: Duration,
        kind: Kind
    ) {
        self.call = call
        self.attempt = attempt
        self.request = request
        self.elapsed = elapsed
        self.kind = kind
    }

    /// The kinds of events; later versions may add more.
    public enum Kind: Sendable {
        /// The client accepted the call; the layers may still change the head.
        case started(HTTPRequest)
        /// A request with this head was passed to the transport.
        case sending(HTTPRequest)
        /// The attempt entered a phase, such as looking up the host; reported by some transports.
        case entered(TransportError.Phase)
        /// The exchange has a connection; reported by some transports.
        case connected(ConnectionInfo)
        /// The head of the request was handed to the network; reported by some transports.
        case sentHead
        /// The last byte of the request, with a body of this size, was handed to the network; reported by some
        /// transports.
        case sentBody(bytes: Int64)
        /// The head of the final response arrived.
        case received(HTTPResponse, ConnectionInfo?)
        /// The last byte of the response, with a body of this size, was read.
        case receivedBody(bytes: Int64)
        /// The rest of the response was dropped, after this many bytes of its body.
        case droppedBody(bytes: Int64)
        /// The request failed, or its response body did.
        case attemptFailed(TransportError)
        /// The call continues at another address, given without its query.
        case redirected(to: String, status: Int)
        /// The call will be retried after a pause; the reason is the name of a code or a status.
        case retrying(after: Duration, reason: String)
        /// The call is not retried despite an outcome that permits it.
        case notRetried(RetryRefusal)
        /// The call shares the exchange of another call in progress.
        case joined(HTTPCallID)
        /// A second request was sent alongside a slow one.
        case hedged
        /// A cached response of this freshness was used.
        case cached(String)
        /// The call waits for a place, or was admitted after a wait.
        case queued(Bool)
        /// The call's credentials were renewed.
        case credentialsRenewed
        /// A circuit changed to the named state.
        case circuit(String)
        /// The call ended with a response of any status: complete, or with a body streamed to the caller.
        case succeeded(status: Int)
        /// The call ended with an error.
        case failed(TransportError)
    }
}

/// A type that observes the events of calls.
public protocol HTTPEventObserver: Sendable {
    /// Receives an event; it runs on the path of the call, possibly concurrently, and must return quickly.
    func observe(_ event: HTTPEvent)
}

/// The sender of one call's events to its observers.
package struct HTTPEventRecorder: Sendable {
    private let observers: [any HTTPEventObserver]
    private let elapsed: @Sendable () -> Duration
    private let requests = RequestCount()
    /// The request whose events are recorded; nil for events of the whole call.
    private var request: Int?

    /// Nil without observers.
    package init?(_ observers: [any HTTPEventObserver], clock: any Clock<Duration>) {
        guard !observers.isEmpty else { return nil }
        self.observers = observers
        elapsed = stopwatch(on: clock)
    }

    package func record(_ kind: HTTPEvent.Kind, id: HTTPCallID, attempt: Int) {
        let event = HTTPEvent(
            call: id,
            attempt: attempt,
            request: request,
            elapsed: elapsed(),
            kind: kind
        )
        for observer in observers { observer.observe(event) }
    }

    /// Begins another request, to which the events recorded from now on belong.
    mutating func beginRequest() { request = requests.next() }
}

private final class RequestCount: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
