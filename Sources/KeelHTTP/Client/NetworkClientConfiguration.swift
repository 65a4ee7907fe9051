public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension NetworkClient {
    /// The settings of all calls of a client.
    public struct Configuration: Sendable {
        /// The address that the paths of endpoints are appended to, its own path kept.
        ///
        /// It must be an `http` or `https` URL without user information, query and fragment; any
        /// call fails with ``NetworkError/Code/invalidURL`` otherwise.
        public var baseURL: URL

        /// Header fields of every request to the base URL's origin; an endpoint's field of the same
        /// name replaces them.
        public var defaultHeaders: HTTPFields = [:]

        /// How the service writes JSON.
        public var json: JSONCoding = .standard

        /// How values are written in bodies, where ``json`` does not suffice; nil is ``json``.
        ///
        /// ``FoundationJSONCoding`` takes coders of your own, and a ``BodyCoding`` can be of any format.
        public var coding: (any BodyCoding)?

        /// Which types the bodies of refusing responses are read as, unless an endpoint or a
        /// service says otherwise.
        public var failures: [FailureBody] = []

        /// The total time for a call, from its start through redirects to the last byte of the
        /// body; nil is no limit.
        ///
        /// A request body in memory adds a second for each 64 KiB, so that an upload of 10 MB over a
        /// line of 1 Mbit/s succeeds. A time that an endpoint or a call sets itself is not extended.
        ///
        /// A request body that is produced while it is sent, such as a file, may take longer: of
        /// such a call this is the time in which nothing happens at all, counted from when the
        /// transport begins to read the body. What is waited for before, such as a place under
        /// ``ConcurrencyLimitMiddleware``, does not count. Of a stream it covers the time to the
        /// response head, see ``NetworkClient/stream(_:timeoutCovers:timeout:options:)``.
        public var timeout: Duration? = .seconds(60)

        /// How long the reader of a stream may wait for the next bytes; nil is no limit.
        public var idleTimeout: Duration? = .seconds(60)

        /// The limits inside one attempt, beside ``timeout`` over all of them.
        ///
        /// Its idle limit is used for bodies read into memory; streams have ``idleTimeout``.
        ///
        /// Where the first-byte or the idle limit is nil, and the call may be repeated, each is a
        /// third of the time that the call has, and at least ten seconds, and a second more for the
        /// head for each 64 KiB of the request body. The attempt that follows such a silence has a
        /// new connection and all the time that is left: a connection that has died without a word
        /// costs a third of the call, and a slow server is not given up for it.
        public var timeouts = HTTPTimeouts()

        /// The options of all calls for the layers, unless an endpoint or a call says otherwise.
        public var options = HTTPCallOptions()

        /// The most bytes that a response body held in memory may have.
        public var responseLimit = 64 * 1024 * 1024

        /// How many bytes of the body of a refusing response an error keeps.
        public var errorBodyLimit = 64 * 1024

        /// Which redirects are followed.
        public var redirects: RedirectPolicy = .safeMethods

        /// The public keys that the servers may have; nil looks at certificates alone.
        ///
        /// A client with pins over a transport that does not declare
        /// ``HTTPTransportFeatures/pinning`` is a mistake that stops the program when the client is
        /// created: its calls would look protected and not be.
        public var pins: PublicKeyPins?

        /// Which calls are repeated, how often and after what pauses.
        ///
        /// By default a call is made three times at the most, and only where repeating it is known
        /// to do no harm; see ``HTTPRetryPolicy``.
        public var retry: HTTPRetryPolicy = .standard

        /// The layers that every call passes once, the first one outermost.
        ///
        /// They stand above redirects and repetitions: what they add holds for all of them, and
        /// what they see is the final outcome. Coalescing and idempotency keys belong here.
        public var middleware: [any HTTPMiddleware] = []

        /// The layers that each hop of a call passes, the first one outermost.
        ///
        /// They stand below redirects and above repetitions: every address that a call comes by
        /// passes them once, and what they see is the outcome of all attempts at it. An HTTP cache
        /// belongs here: it keeps a redirect and its target apart, each under its own address.
        public var hopMiddleware: [any HTTPMiddleware] = []

        /// The layers that every attempt passes, the first one outermost.
        ///
        /// They stand below redirects and repetitions, next to the transport: each request that is
        /// really sent passes them. Authorization, signatures, limits on concurrency, circuit
        /// breakers, tracing of attempts and compression belong here.
        public var attemptMiddleware: [any HTTPMiddleware] = []

        /// Who looks at the events of each call.
        public var observers: [any HTTPEventObserver] = []

        /// The clock that time limits and pauses are measured on.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Makes the names of calls; a test gives its own.
        public var callID: @Sendable () -> HTTPCallID = { HTTPCallID() }

        /// Creates a configuration with the usual limits.
        public init(baseURL: URL) {
            self.baseURL = baseURL
        }
    }
}
