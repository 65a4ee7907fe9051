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

        /// The header fields of every request to the base URL's origin; an endpoint's field of the same name replaces
        /// them.
        ///
        /// A redirect to another origin omits these fields, except `User-Agent`, names that begin with `Accept`, and
        /// fields that describe a body.
        public var defaultHeaders: HTTPFields = [:]

        /// The JSON conventions of the service.
        public var json: JSONCoding = .standard

        /// The coding of values in bodies; nil uses ``json``.
        ///
        /// ``FoundationJSONCoding`` wraps your own coders, and a type that conforms to ``BodyCoding`` can use any
        /// format.
        public var coding: (any BodyCoding)?

        /// The types for decoding error responses, tried after those of the endpoint and the service.
        public var errorBodies: [ErrorBody] = []

        /// The total timeout of a call, from its start through redirects to the last byte of the body; nil for no
        /// limit.
        ///
        /// A request body in memory extends the timeout by one second per 64 KiB, so that an upload of 10 MB over a 1
        /// Mbit/s line succeeds. A timeout set by an endpoint or a call is not extended.
        ///
        /// For a request body that is produced while it is sent, such as a file, this is a stall timeout: the longest
        /// time without progress once the transport has started to read the body. Earlier waits, such as in
        /// ``ConcurrencyLimitMiddleware``, do not count. For a stream, the timeout covers the time to the response
        /// head; see ``NetworkClient/stream(_:timeoutCovers:timeout:options:)``.
        public var timeout: Duration? = .seconds(60)

        /// The maximum time that a reader of a stream waits for more bytes; nil for no limit.
        public var idleTimeout: Duration? = .seconds(60)

        /// The limits of a single attempt, in addition to ``timeout`` for the whole call.
        ///
        /// Its idle limit applies to bodies read into memory; streams use ``idleTimeout``.
        ///
        /// If the first-byte or the idle limit is nil and the call can be retried, the limit is a third of the call's
        /// timeout, and at least ten seconds. The first-byte limit grows by one second per 64 KiB of the request body.
        /// The attempt after such a timeout uses a new connection and the whole remaining time. A silently dead
        /// connection therefore costs a third of the call's time, and a slow server still gets the rest.
        public var timeouts = HTTPTimeouts()

        /// The default options of calls for the layers; an endpoint or a call can override them.
        public var options = HTTPCallOptions()

        /// The maximum size of a response body read into memory, in bytes.
        public var responseLimit = 64 * 1024 * 1024

        /// The maximum number of bytes of an error response's body that an error keeps.
        public var errorBodyLimit = 64 * 1024

        /// The redirects to follow.
        public var redirects: RedirectPolicy = .safeMethods

        /// The public keys accepted from servers; nil relies on certificate validation alone.
        ///
        /// It is a programming error to create a client with pins over a transport without
        /// ``HTTPTransportFeatures/pinning``: its calls would not be protected.
        public var pins: PublicKeyPins?

        /// The retry policy: which calls are retried, how often and after which delays.
        ///
        /// By default, a call is attempted at most three times, and retried only if that is known to be safe; see
        /// ``HTTPRetryPolicy``.
        public var retry: HTTPRetryPolicy = .standard

        /// The layers that every call passes once, outermost first.
        ///
        /// They are above redirects and retries: their changes apply to all requests of the call, and they see its
        /// final outcome. Coalescing and idempotency keys belong here.
        public var middleware: [any HTTPMiddleware] = []

        /// The layers that each hop of a call passes, outermost first.
        ///
        /// They are below redirects and above retries: a call passes them once per address, and they see the outcome of
        /// all attempts. An HTTP cache belongs here, so that it stores a redirect and its target under their own
        /// addresses.
        public var hopMiddleware: [any HTTPMiddleware] = []

        /// The layers that every attempt passes, outermost first.
        ///
        /// They are below redirects and retries, next to the transport: every request that is sent passes them.
        /// Authorization, signatures, concurrency limits, circuit breakers, tracing of attempts and compression belong
        /// here.
        public var attemptMiddleware: [any HTTPMiddleware] = []

        /// The observers of each call's events.
        public var observers: [any HTTPEventObserver] = []

        /// The clock for timeouts and delays.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// A closure that creates the identifiers of calls; replace it in tests.
        public var makeCallID: @Sendable () -> HTTPCallID = { HTTPCallID() }

        /// Creates a configuration with the default limits.
        public init(baseURL: URL) {
            self.baseURL = baseURL
        }
    }
}
