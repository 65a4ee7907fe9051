/// A transport whose every call fails with the same error.
///
/// Use it in an app, a preview or a test in which no request may leave the process, and in place of a transport that
/// could not be created.
public struct UnavailableHTTPTransport: HTTPTransport {
    private let error: TransportError

    /// Creates a transport that fails with `error`.
    public init(_ error: TransportError) { self.error = error }

    /// All features, so that every call gets as far as the error.
    public var features: HTTPTransportFeatures {
        [
            .streamingUpload, .pinning, .connectionInfo, .trailers, .clientCertificates,
            .rawContentCoding, .exchangeEvents,
        ]
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply { throw error }

    public func shutdown() async {}
}
