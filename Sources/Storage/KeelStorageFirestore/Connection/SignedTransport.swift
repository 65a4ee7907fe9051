internal import KeelCore
internal import KeelHTTP
internal import KeelHTTPAuthentication

/// A transport that signs requests to some origins, for streams that bypass `NetworkClient`.
struct SignedTransport: HTTPTransport {
    private let upstream: any HTTPTransport
    private let signed: HTTPNext

    init(_ upstream: any HTTPTransport, tokens: any TokenSource, at origins: Set<HTTPOrigin>) {
        self.upstream = upstream
        signed = upstream.chain([Self.authorization(tokens, at: origins)])
    }

    private static func authorization(
        _ tokens: some TokenSource,
        at origins: Set<HTTPOrigin>
    ) -> any HTTPMiddleware { BearerAuthorization(tokens, origins: origins) }

    var features: HTTPTransportFeatures { upstream.features }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        try await signed(call)
    }

    func shutdown() async { await upstream.shutdown() }
}
