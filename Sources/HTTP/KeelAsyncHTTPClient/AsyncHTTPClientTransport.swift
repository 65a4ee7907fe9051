#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import HTTPTypes
import KeelCore
public import KeelHTTP
import KeelHTTPCompression
import NIOCore
import NIOHTTP1
import Synchronization

/// A transport on AsyncHTTPClient and SwiftNIO, the usual one on Linux.
///
/// | feature | |
/// |---|---|
/// | streaming in both directions, with backpressure | yes |
/// | trailers | yes |
/// | interim responses, see `HTTPCall.onInterimResponse` | yes |
/// | content coding | as sent; a client decodes, see ``Configuration/decompression`` |
/// | HTTP/2 | over TLS, if the server offers it |
/// | connection information | identity, reuse, protocol, address; the moments of an exchange |
/// | pinning, client certificates, proxies | yes |
///
/// AsyncHTTPClient's retries of connection attempts are off: they would hide a refused port or an unknown host until
/// the connect timeout. Also off are its redirects, its decompression and its spans.
///
/// Bytes after the end of an HTTP/1.1 response are dropped, and the connection is not reused (RFC 9112 section 6.3). If
/// they arrive only after the next request was sent, that request fails as on a stale connection, and a client repeats
/// it. Bytes that look like a whole response cannot be distinguished from the response to that request.
///
/// The calls to one origin share an event loop, and origins are distributed over the loops. With at least sixteen
/// ``Configuration/connectionsPerHost`` and four processors, many concurrent calls to one origin use several loops.
///
/// A deallocated transport closes its connections; ``shutdown()`` waits for that, at most for
/// ``Configuration/connectTimeout``.
public final class AsyncHTTPClientTransport: HTTPTransport, LayeringTransport, DeadlineEnforcing {
    private let client: HTTPClient
    private let isShutDown = Mutex(false)
    private let waiting = WaitingExchanges()
    private let queue: ConnectionQueue
    private let requests: OriginRequests
    private let longestOpening: Duration
    private let timer = DeadlineTimer.on(ContinuousClock())
    private let hasProxy: Bool

    package let clientLayers: [any HTTPMiddleware]

    public let features: HTTPTransportFeatures = [
        .streamingUpload, .rawContentCoding, .connectionInfo, .trailers, .pinning,
        .clientCertificates, .exchangeEvents,
    ]

    /// Creates a transport with its own connection pool.
    public init(_ configuration: Configuration = Configuration()) {
        var settings = configuration.settings
        ConnectionWatch(
            waiting: waiting,
            writeTimeout: TimeAmount(configuration.writeTimeout)
        )
        .install(in: &settings)
        client = HTTPClient(configuration: settings)
        requests = OriginRequests(
            on: client.eventLoopGroup,
            connections: configuration.connectionsPerHost
        )
        longestOpening = configuration.connectTimeout
        hasProxy = configuration.proxy != nil
        clientLayers =
            configuration.decompression.map { limits in
                [ResponseDecompression(for: .rawContentCoding, limits: limits)]
            } ?? []
        queue = ConnectionQueue(
            limit: configuration.connectionsPerHost,
            timeout: configuration.poolTimeout
        )
    }

    deinit {
        // Deallocating an open client traps in debug builds; the future keeps it alive.
        guard beginShutdown() else { return }
        _ = client.shutdown()
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        // Nothing was sent on a skipped connection; it is closed or retired, and soon replaced.
        var passedOver = 0
        while true {
            let mayPassOver = call.isReplayable && passedOver < Self.mostPassedOver
            do throws(TransportError) {
                return try await send(
                    call,
                    wantsNewConnection: mayPassOver && call.options.prefersNewConnection
                )
            } catch {
                guard mayPassOver, error.code == .staleConnection, error.processed == .no,
                    !Task.isCancelled
                else { throw error }
                passedOver += 1
            }
        }
    }

    private static let mostPassedOver = 32

    private func send(
        _ call: HTTPCall,
        wantsNewConnection: Bool
    ) async throws(TransportError) -> HTTPReply {
        let isStreamed = call.body.map { ($0.bytes?.count ?? .max) > SendWindow.limit } ?? false
        let prepared = isStreamed ? nil : try requests.request(for: call.head)
        let exchange = waiting.begin(
            call,
            prepared,
            wantsNewConnection: wantsNewConnection,
            queue
        )
        // All calls share the lock of `waiting`; an exchange that has a connection is not there.
        defer { if !exchange.hasConnection { waiting.take(exchange.number) } }
        do {
            // AsyncHTTPClient's deadline does not end a call whose connection never opens. Requests
            // that are not streamed are timed without an extra task.
            guard let prepared else { return try await limitedReply(to: call, exchange) }
            return try await reply(to: call, prepared, exchange)
        } catch {
            exchange.givenUp()
            throw translated(error, .awaitHead, exchange).located(in: call)
        }
    }

    private func limitedReply(
        to call: HTTPCall,
        _ exchange: Exchange
    ) async throws -> HTTPReply {
        let reply: @Sendable () async throws(TransportError) -> HTTPReply = {
            () async throws(TransportError) in
            do {
                return try await self.streamedReply(to: call, exchange)
            } catch {
                throw self.translated(error, .awaitHead, exchange)
            }
        }
        let limited: @Sendable () async throws(TransportError) -> HTTPReply = {
            () async throws(TransportError) in
            guard let limit = call.timeouts.firstByte else { return try await reply() }
            return try await Deadline(in: limit, on: self.timer)
                .run(throwing: TransportError(.responseTimeout), reply)
        }
        guard call.endsAtDeadline, let deadline = call.deadline else { return try await limited() }
        var answer = try await deadline.run(throwing: TransportError(.deadlineExceeded), limited)
        answer.body = answer.body.mapReads { read async throws(TransportError) in
            try await deadline.run(throwing: TransportError(.deadlineExceeded), read)
        }
        return answer
    }

    private func reply(
        to call: HTTPCall,
        _ prepared: OriginRequests.Prepared,
        _ exchange: Exchange
    ) async throws -> HTTPReply {
        try Task.checkCancellation()
        let deadline = call.endsAtDeadline ? call.deadline : nil
        // The layers above may have arrived here late, without being canceled.
        if let deadline, deadline.remaining <= .zero { throw TransportError(.deadlineExceeded) }
        var request = prepared.request
        request.headers = HTTPHeaders(call.head.headerFields, of: exchange)
        request.body = call.body?.bytes.map { .sent($0, on: prepared.eventLoop) }
        let receiver = ResponseReceiver()
        let task = client.execute(
            request: request,
            delegate: receiver,
            eventLoop: .delegate(on: prepared.eventLoop),
            logger: nil
        )
        // A client that was shut down meanwhile fails the task, but possibly not the receiver.
        if isShutDown.withLock({ $0 }) {
            task.futureResult.whenFailure { receiver.fail($0) }
        }
        let response = ReceivedResponse(
            receiver,
            task,
            deadline?.watch {
                receiver.fail(TransportError(.deadlineExceeded))
                task.cancel()
            }
        )
        let opening = call.timeouts.firstByte.map { limit in
            Deadline(in: limit, on: timer).watch {
                if receiver.failHead(TransportError(.responseTimeout)) { task.cancel() }
            }
        }
        defer { opening?.end() }
        let head = try await queue.waiting(exchange) { try await response.head() }
        return HTTPReply(
            head: HTTPResponse(head.status, head.headers),
            body: response.takeWhole().map { .collected($0, trailers: exchange.trailers) }
                ?? stream(response, of: call, exchange),
            connection: exchange.connection ?? ConnectionInfo(version: head.version.description)
        )
    }

    /// Sends a request with a body that is produced on the way, or too large to write at once.
    ///
    /// A server may respond before it has read such a body. A delegate like ``ResponseReceiver`` learns of the end only
    /// after the request has ended as well, so these exchanges use AsyncHTTPClient's asynchronous functions, which cost
    /// more.
    private func streamedReply(
        to call: HTTPCall,
        _ exchange: Exchange
    ) async throws -> HTTPReply {
        try Task.checkCancellation()
        guard let body = call.body else { throw TransportError(.invalidRequest) }
        let request = try HTTPClientRequest(call, sending: body, exchange)
        let response = try await queue.waiting(exchange) {
            try await self.client.execute(request, deadline: .distantFuture)
        }
        return HTTPReply(
            head: HTTPResponse(response.status, response.headers),
            body: stream(StreamedExchangeBody(response.body), of: call, exchange),
            connection: exchange.connection
                ?? ConnectionInfo(version: response.version.description)
        )
    }

    public func shutdown() async {
        guard beginShutdown() else { return }
        // A connection being opened delays AsyncHTTPClient's shutdown, without any limit while the
        // settings of HTTP/2 are missing. The future continues after waiting ends.
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let future: EventLoopFuture<Void> = client.shutdown()
        future.whenComplete { _ in end.finish() }
        _ = await timer.run(until: timer.now + longestOpening) { for await _ in ended {} }
    }

    private func beginShutdown() -> Bool {
        isShutDown.withLock { isShutDown in
            defer { isShutDown = true }
            return !isShutDown
        }
    }

    private func stream(
        _ body: any ResponseBody,
        of call: HTTPCall,
        _ exchange: Exchange
    ) -> HTTPByteStream {
        // Not the call itself, which would keep the request's body in memory during the response.
        let (head, id) = (call.head, call.id)
        let idle = call.timeouts.idle
        let read: HTTPByteStream.Read = { () async throws(TransportError) in
            do {
                return try await body.next(within: idle)
            } catch {
                throw self.translated(error, .readBody, exchange)
                    .located(at: head.redactedURL, in: id)
            }
        }
        return HTTPByteStream(trailers: { exchange.trailers }, read: read)
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
        // A connection that takes no more requests cancels one that has just arrived.
        if translated.code == .cancelled, !Task.isCancelled, !exchange.hasConnection {
            return TransportError(.staleConnection, processed: .no, cause: translated.cause)
        }
        let complete = exchange.complete(translated)
        // The proxy was reached without a connection resulting, so any failure before the first
        // byte of a request is the proxy's.
        if hasProxy, !exchange.hasConnection, [.connectionLost, .unknown].contains(complete.code) {
            return TransportError(.proxyFailed, cause: complete.cause)
        }
        return complete
    }
}

extension HTTPClient.Body {
    /// Returns a small body in memory, written at once.
    ///
    /// Does not wait for the network: a server may respond without reading it. Bodies larger than
    /// the ``SendWindow`` are streamed, which waits.
    fileprivate static func sent(
        _ bytes: [UInt8],
        on eventLoop: any EventLoop
    ) -> HTTPClient.Body {
        .stream(contentLength: Int64(bytes.count)) { writer in
            var rest = ByteBuffer(bytes: bytes)
            while let piece = rest.readPiece() { _ = writer.write(.byteBuffer(piece)) }
            return eventLoop.makeSucceededVoidFuture()
        }
    }
}
#else
/// A transport on AsyncHTTPClient; requires the trait `AsyncHTTPClient`.
@available(
    *,
    unavailable,
    message: "Enable the 'AsyncHTTPClient' trait of the keel package; iOS has URLSessionTransport."
)
public enum AsyncHTTPClientTransport: Sendable {}
#endif
