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
        /// Every call fails with ``NetworkError/Code/invalidURL`` unless it is an `http` or `https` URL without user
        /// information, query and fragment.
        public var baseURL: URL

        /// The header fields of every request to the base URL's origin; an endpoint's fields of the same name replace
        /// them.
        ///
        /// A redirect to another origin omits these fields, except `User-Agent`, names that begin with `Accept`, and
        /// fields that describe a body.
        public var defaultHeaders: HTTPFields = [:]

        /// The JSON conventions of the service.
        public var json: JSONCoding = .standard

        /// The coding of values in bodies; nil uses ``json``.
        ///
        /// Use ``FoundationJSONCoding`` for your own coders, or conform to ``BodyCoding`` for any format.
        public var coding: (any BodyCoding)?

        /// The types for decoding error responses, tried after those of the endpoint and the service.
        public var errorBodies: [ErrorBody] = []

        /// The total timeout of a call, from its start through redirects to the last byte of the body; nil for no
        /// limit.
        ///
        /// A request body in memory extends it by one second per 64 KiB, so that 10 MB can be sent at 1 Mbit/s. A
        /// timeout of an endpoint or a call is not extended.
        ///
        /// For a request body that is produced while it is sent, such as a file, it limits instead the time without
        /// progress once the transport has started to read the body; a stall is noticed after one to two times the
        /// limit. For a stream, it covers the time to the response head; see
        /// ``NetworkClient/stream(_:timeoutCovers:timeout:options:)``.
        public var timeout: Duration? = .seconds(60)

        /// The maximum time that a reader of a stream waits for more bytes; nil for no limit.
        public var idleTimeout: Duration? = .seconds(60)

        /// The limits of a single attempt, in addition to ``timeout``.
        ///
        /// The idle limit applies to bodies read into memory; streams use ``idleTimeout``.
        ///
        /// If the first-byte or the idle limit is nil and the call can be retried, the limit is a third of the call's
        /// time, and at least ten seconds; the first-byte limit grows by one second per 64 KiB of the request body. The
        /// attempt after such a timeout uses a new connection and all the time left, so that a slow server still gets
        /// it.
        public var timeouts = HTTPTimeouts()

        /// The default options for the layers; an endpoint or a call can override them.
        public var options = HTTPCallOptions()

        /// The maximum size of a response body read into memory, in bytes.
        ///
        /// A call with a larger one fails with ``TransportError/Code/responseTooLarge``.
        public var responseLimit = 64 * 1024 * 1024

        /// The maximum number of bytes of an error response's body that an error keeps.
        public var errorBodyLimit = 64 * 1024

        /// The redirects to follow.
        public var redirects: RedirectPolicy = .safeMethods

        /// The public keys accepted from servers; nil relies on certificate validation alone.
        ///
        /// Creating a client with pins over a transport without ``HTTPTransportFeatures/pinning`` is a programming
        /// error.
        public var pins: PublicKeyPins?

        /// Which calls are retried, how often and after which delays.
        ///
        /// By default, a call is attempted at most three times per address, and retried only if that is known to be
        /// safe.
        public var retry: HTTPRetryPolicy = .standard

        /// The layers that every call passes once, outermost first.
        ///
        /// They are above redirects and retries, and see the final outcome of the call. Coalescing and idempotency keys
        /// belong here.
        public var middleware: [any HTTPMiddleware] = []

        /// The layers that a call passes once per address, outermost first.
        ///
        /// They are below redirects and above retries, and see the outcome of all attempts. An HTTP cache belongs here,
        /// so that it stores a redirect and its target under their own addresses.
        public var hopMiddleware: [any HTTPMiddleware] = []

        /// The layers that every attempt passes, outermost first.
        ///
        /// They are below redirects and retries. Authorization, signatures, limits, circuit breakers, compression and
        /// tracing of attempts belong here.
        public var attemptMiddleware: [any HTTPMiddleware] = []

        /// The observers of each call's events.
        public var observers: [any HTTPEventObserver] = []

        /// The clock for timeouts and delays.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Creates the identifiers of calls; replace it in tests.
        public var makeCallID: @Sendable () -> HTTPCallID = { HTTPCallID() }

        /// Creates a configuration with the default limits.
        public init(baseURL: URL) {
            self.baseURL = baseURL
        }
    }
}
