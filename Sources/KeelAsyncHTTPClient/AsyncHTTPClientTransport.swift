#if AsyncHTTPClient && canImport(AsyncHTTPClient)
package import AsyncHTTPClient
import HTTPTypes
public import KeelHTTP
import NIOCore
import NIOHTTP1
import Synchronization

/// A transport on AsyncHTTPClient and SwiftNIO: the usual one on Linux.
///
/// | feature | |
/// |---|---|
/// | streaming both ways, with back-pressure | yes |
/// | trailers | no: AsyncHTTPClient has them only behind an unstable trait |
/// | content coding | left as the server sent it |
/// | HTTP/2 | over TLS, where the server offers it |
/// | connection information | the protocol's version |
/// | pinning, client certificates | no |
///
/// AsyncHTTPClient's own repetition of connection attempts is off: it would hide a refused port
/// or an unknown host until the connect timeout. So are redirects and decompression.
///
/// A transport that is dropped closes its connections; call ``shutdown()`` to wait for that.
public final class AsyncHTTPClientTransport: HTTPTransport {
    private let client: HTTPClient
    private let isShutDown = Mutex(false)

    public let features: HTTPTransportFeatures = [
        .streamingUpload, .rawContentCoding, .connectionInfo,
    ]

    /// Creates a transport with a connection pool of its own.
    public convenience init(_ configuration: Configuration = Configuration()) {
        self.init(configuration) { _ in }
    }

    /// Creates a transport after `adjust` has had its say, for settings that are not public yet.
    package init(
        _ configuration: Configuration,
        adjust: (inout HTTPClient.Configuration) -> Void
    ) {
        var settings = configuration.settings
        adjust(&settings)
        client = HTTPClient(configuration: settings)
    }

    deinit {
        // A client that is dropped while open traps in debug builds; the future keeps it alive.
        guard beginShutdown() else { return }
        _ = client.shutdown()
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let request = try HTTPClientRequest(call)
        // AsyncHTTPClient's deadline covers exactly the time to the response head.
        let deadline = call.timeouts.firstByte.map { NIODeadline.now() + TimeAmount($0) }
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: deadline ?? .distantFuture)
        } catch {
            throw translated(error, .awaitHead).located(at: call.redactedURL)
        }
        return reply(to: call, from: response)
    }

    public func shutdown() async {
        guard beginShutdown() else { return }
        // The only failure is a second shutdown, which the flag rules out.
        try? await client.shutdown()
    }

    private func beginShutdown() -> Bool {
        isShutDown.withLock { isShutDown in
            defer { isShutDown = true }
            return !isShutDown
        }
    }

    private func reply(to call: HTTPCall, from response: HTTPClientResponse) -> HTTPReply {
        let reader = ResponseBodyReader(response.body)
        let url = call.redactedURL
        let read: HTTPByteStream.Read = { () async throws(TransportError) in
            do {
                return try await reader.next()
            } catch {
                throw self.translated(error, .readBody).located(at: url)
            }
        }
        let idle = call.timeouts.idle
        let body = HTTPByteStream { () async throws(TransportError) in
            guard let idle else { return try await read() }
            // AsyncHTTPClient's read timeout goes on while nobody reads and would punish a slow
            // reader, so waiting is measured here.
            let silence = TransportError(
                .responseTimeout,
                "The server stopped sending the response.",
                phase: .readBody,
                url: url
            )
            return try await Deadline(in: idle, on: ContinuousClock()).run(throwing: silence, read)
        }
        return HTTPReply(
            head: HTTPResponse(response),
            body: body,
            connection: ConnectionInfo(version: response.version.description)
        )
    }

    private func translated(
        _ error: any Error,
        _ phase: TransportError.Phase
    ) -> TransportError {
        let translated = TransportError(fromAsyncHTTPClient: error, during: phase)
        // Shutting down cancels what is under way; the caller did not.
        if translated.code == .cancelled, !Task.isCancelled, isShutDown.withLock({ $0 }) {
            return TransportError(.clientShutdown, phase: phase)
        }
        return translated
    }
}
#else
/// A transport on AsyncHTTPClient; it takes the trait `AsyncHTTPClient`.
@available(
    *,
    unavailable,
    message: "Enable the 'AsyncHTTPClient' trait of the keel package to use this transport."
)
public enum AsyncHTTPClientTransport: Sendable {}
#endif
