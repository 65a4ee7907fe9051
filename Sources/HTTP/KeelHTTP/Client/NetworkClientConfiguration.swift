public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension NetworkClient {
    /// The settings for all calls of a client.
    public struct Configuration: Sendable {
        /// The address to which the paths of endpoints are appended; its own path is kept.
        ///
        /// It must be an `http` or `https` URL without user information, query and fragment; otherwise every call fails
        /// with ``NetworkError/Code/invalidURL``.
        public var baseURL: URL

        /// Header fields of every request to the base URL's origin; an endpoint's field of the same name replaces them.
        ///
        /// A redirect to another origin carries no field with one of these names, except `User-Agent`, names that
        /// begin with `Accept`, and fields that describe a body.
        public var defaultHeaders: HTTPFields = [:]

        /// The JSON conventions of the service.
        public var json: JSONCoding = .standard

        /// The coding of values in bodies where ``json`` does not suffice; nil uses ``json``.
        ///
        /// ``FoundationJSONCoding`` takes your own coders, and a ``BodyCoding`` can use any format.
        public var coding: (any BodyCoding)?

        /// The types that the bodies of error responses are decoded as, after those of the endpoint and the service.
        public var errorBodies: [ErrorBody] = []

        /// The total time for a call, from its start through redirects to the last byte of the body; nil means no
        /// limit.
        ///
        /// A request body in memory adds a second per 64 KiB, so that an upload of 10 MB over a 1 Mbit/s line succeeds.
        /// A timeout that an endpoint or a call sets itself is not extended.
        ///
        /// A call whose request body is produced while it is sent, such as a file, may take longer: for such a call
        /// this is the time without any progress, counted from when the transport begins to read the body. Earlier
        /// waits, such as for a place under ``ConcurrencyLimitMiddleware``, do not count. For a stream it covers the
        /// time to the response head; see ``NetworkClient/stream(_:timeoutCovers:timeout:options:)``.
        public var timeout: Duration? = .seconds(60)

        /// How long the reader of a stream may wait for the next bytes; nil means no limit.
        public var idleTimeout: Duration? = .seconds(60)

        /// The limits of a single attempt, in addition to ``timeout`` for the whole call.
        ///
        /// Its idle limit applies to bodies read into memory; streams use ``idleTimeout``.
        ///
        /// If the first-byte or the idle limit is nil and the call may be repeated, the limit is a third of the call's
        /// time and at least ten seconds; the first-byte limit grows by a second per 64 KiB of the request body. The
        /// attempt after such a timeout uses a new connection and all the time left: a silently dead connection costs a
        /// third of the call, and a slow server still gets the rest.
        public var timeouts = HTTPTimeouts()

        /// The options of all calls for the layers, unless an endpoint or a call sets its own.
        public var options = HTTPCallOptions()

        /// The maximum size of a response body read into memory, in bytes.
        public var responseLimit = 64 * 1024 * 1024

        /// The number of bytes of an error response's body that an error keeps.
        public var errorBodyLimit = 64 * 1024

        /// The redirects to follow.
        public var redirects: RedirectPolicy = .safeMethods

        /// The public keys that the servers may have; nil relies on certificate validation alone.
        ///
        /// Creating a client with pins over a transport that does not declare ``HTTPTransportFeatures/pinning`` stops
        /// the program: its calls would only seem to be protected.
        public var pins: PublicKeyPins?

        /// Which calls are repeated, how often and after what pauses.
        ///
        /// By default a call is attempted at most three times, and only if repeating it is known to be harmless; see
        /// ``HTTPRetryPolicy``.
        public var retry: HTTPRetryPolicy = .standard

        /// The layers that every call passes once, outermost first.
        ///
        /// They are above redirects and retries: what they add applies to all requests of the call, and they see its
        /// final outcome. Coalescing and idempotency keys belong here.
        public var middleware: [any HTTPMiddleware] = []

        /// The layers that each hop of a call passes, outermost first.
        ///
        /// They are below redirects and above retries: a call passes them once per address and they see the outcome of
        /// all attempts at it. An HTTP cache belongs here, where it stores a redirect and its target separately, each
        /// under its own address.
        public var hopMiddleware: [any HTTPMiddleware] = []

        /// The layers that every attempt passes, outermost first.
        ///
        /// They are below redirects and retries, next to the transport: every request that is sent passes them.
        /// Authorization, signatures, concurrency limits, circuit breakers, tracing of attempts and compression belong
        /// here.
        public var attemptMiddleware: [any HTTPMiddleware] = []

        /// The observers of each call's events.
        public var observers: [any HTTPEventObserver] = []

        /// The clock that measures time limits and pauses.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// A closure that creates the identifiers of calls; replace it in tests.
        public var makeCallID: @Sendable () -> HTTPCallID = { HTTPCallID() }

        /// Creates a configuration with the default limits.
        public init(baseURL: URL) {
            self.baseURL = baseURL
        }
    }
}
