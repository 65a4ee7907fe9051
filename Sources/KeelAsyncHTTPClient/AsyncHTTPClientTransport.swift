#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import HTTPTypes
import KeelCore
public import KeelHTTP
import NIOCore
import NIOHTTP1
import Synchronization

/// A transport on AsyncHTTPClient and SwiftNIO: the usual one on Linux.
///
/// | feature | |
/// |---|---|
/// | streaming both ways, with back-pressure | yes |
/// | trailers | yes |
/// | content coding | left as the server sent it |
/// | HTTP/2 | over TLS, where the server offers it |
/// | connection information | identity, reuse, protocol, address; the moments of an exchange |
/// | pinning, client certificates, proxies | yes |
///
/// AsyncHTTPClient's own repetition of connection attempts is off: it would hide a refused port
/// or an unknown host until the connect timeout. So are redirects and decompression.
///
/// A transport that is dropped closes its connections; call ``shutdown()`` to wait for that.
public final class AsyncHTTPClientTransport: HTTPTransport {
    private let client: HTTPClient
    private let isShutDown = Mutex(false)
    private let waiting = WaitingExchanges()
    private let queue: ConnectionQueue
    private let longestOpening: Duration
    private let hasProxy: Bool

    public let features: HTTPTransportFeatures = [
        .streamingUpload, .rawContentCoding, .connectionInfo, .trailers, .pinning,
        .clientCertificates, .exchangeMoments,
    ]

    /// Creates a transport with a connection pool of its own.
    public init(_ configuration: Configuration = Configuration()) {
        var settings = configuration.settings
        ConnectionWatch(waiting: waiting).install(in: &settings)
        client = HTTPClient(configuration: settings)
        longestOpening = configuration.connectTimeout
        hasProxy = configuration.proxy != nil
        queue = ConnectionQueue(
            limit: configuration.connectionsPerHost,
            timeout: configuration.poolTimeout
        )
    }

    deinit {
        // A client that is dropped while open traps in debug builds; the future keeps it alive.
        guard beginShutdown() else { return }
        _ = client.shutdown()
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let exchange = waiting.begin(call, queue)
        defer { waiting.take(exchange.number) }
        var request = try HTTPClientRequest(call, exchange.window)
        request.headers.replaceOrAdd(name: ExchangeHandler.field, value: "\(exchange.number)")
        do {
            guard let limit = call.timeouts.firstByte else {
                return reply(to: call, from: try await execute(request, exchange), exchange)
            }
            // AsyncHTTPClient's own deadline does not end a call whose connection never opens.
            let prepared = request
            return try await Deadline(in: limit, on: ContinuousClock())
                .run(throwing: TransportError(.responseTimeout)) {
                    () async throws(TransportError) in
                    do {
                        let response = try await self.execute(prepared, exchange)
                        return self.reply(to: call, from: response, exchange)
                    } catch {
                        throw self.translated(error, .awaitHead, exchange)
                    }
                }
        } catch {
            exchange.window.close()
            throw translated(error, .awaitHead, exchange).located(in: call)
        }
    }

    private func execute(
        _ request: HTTPClientRequest,
        _ exchange: Exchange
    ) async throws -> HTTPClientResponse {
        try await queue.waiting(exchange) {
            try await self.client.execute(request, deadline: .distantFuture)
        }
    }

    public func shutdown() async {
        guard beginShutdown() else { return }
        // A connection that is being opened holds AsyncHTTPClient's shutdown up, without any limit
        // while the settings of HTTP/2 are missing. The future goes on where waiting ends.
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let future: EventLoopFuture<Void> = client.shutdown()
        future.whenComplete { _ in end.finish() }
        let timer = DeadlineTimer.on(ContinuousClock())
        _ = await timer.run(until: timer.now + longestOpening) { for await _ in ended {} }
    }

    private func beginShutdown() -> Bool {
        isShutDown.withLock { isShutDown in
            defer { isShutDown = true }
            return !isShutDown
        }
    }

    private func reply(
        to call: HTTPCall,
        from response: HTTPClientResponse,
        _ exchange: Exchange
    ) -> HTTPReply {
        let reader = ResponseBodyReader(response.body)
        // Not the call itself: it would keep the request's body in memory while this one is read.
        let (head, id) = (call.head, call.id)
        let read: HTTPByteStream.Read = { () async throws(TransportError) in
            do {
                return try await reader.next()
            } catch {
                throw self.translated(error, .readBody, exchange)
                    .located(at: head.redactedURL, in: id)
            }
        }
        let idle = call.timeouts.idle
        let waitingRead: HTTPByteStream.Read = { () async throws(TransportError) in
            guard let idle else { return try await read() }
            // AsyncHTTPClient's read timeout goes on while nobody reads and would punish a slow
            // reader, so waiting is measured here.
            let silence = TransportError(
                .responseTimeout,
                "The server stopped sending the response.",
                phase: .readBody,
                url: head.redactedURL
            )
            return try await Deadline(in: idle, on: ContinuousClock()).run(throwing: silence, read)
        }
        return HTTPReply(
            head: HTTPResponse(response),
            body: HTTPByteStream(trailers: { exchange.trailers }, read: waitingRead),
            connection: exchange.connection
                ?? ConnectionInfo(version: response.version.description)
        )
    }

    private func translated(
        _ error: any Error,
        _ phase: TransportError.Phase,
        _ exchange: Exchange
    ) -> TransportError {
        let translated = TransportError(fromAsyncHTTPClient: error, during: phase)
        // Shutting down cancels what is under way; the caller did not.
        if translated.code == .cancelled, !Task.isCancelled, isShutDown.withLock({ $0 }) {
            return TransportError(.clientShutdown, phase: phase)
        }
        let complete = exchange.complete(translated)
        // The proxy was reached, and no connection came of it: whatever was lost or not understood
        // before the first byte of a request was the proxy's.
        if hasProxy, !exchange.hasConnection, [.connectionLost, .unknown].contains(complete.code) {
            return TransportError(.proxyFailed, cause: complete.cause)
        }
        return complete
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
