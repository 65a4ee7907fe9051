/// A transport every call of which fails with the same error.
///
/// For an app, a preview or a test in which no request may leave the process, and for the place of
/// a transport that could not be made.
public struct UnavailableHTTPTransport: HTTPTransport {
    private let error: TransportError

    /// Creates a transport that fails with an error.
    public init(_ error: TransportError) { self.error = error }

    /// All of them, so that each call comes as far as the error.
    public var features: HTTPTransportFeatures {
        [
            .streamingUpload, .pinning, .connectionInfo, .trailers, .clientCertificates,
            .rawContentCoding, .exchangeMoments,
        ]
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply { throw error }

    public func shutdown() async {}
}
