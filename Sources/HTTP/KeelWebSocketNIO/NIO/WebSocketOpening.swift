#if WebSocket
import KeelHTTP
import KeelWebSocket
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

final class WebSocketOpening: Sendable {
    private struct State {
        /// More than one while several addresses of a host are tried.
        var channels: [any Channel] = []
        var isAbandoned = false
        var refusal: WebSocketError.Response?
    }

    private let exchange: UpgradeExchange
    private let configuration: WebSocketConfiguration
    private let tls: SecureContext
    private let clock: any Clock<Duration>
    private let state = Mutex(State())
    private let answer = OneShotResult<NIOWebSocketChannel>()

    init(
        _ exchange: UpgradeExchange,
        _ configuration: WebSocketConfiguration,
        _ tls: SecureContext,
        _ clock: any Clock<Duration>
    ) {
        self.exchange = exchange
        self.configuration = configuration
        self.tls = tls
        self.clock = clock
    }

    /// Opens the connection.
    ///
    /// - Throws: The reason it was not opened; all its resources are released.
    func run() async throws(WebSocketError) -> NIOWebSocketChannel {
        guard !Task.isCancelled else { throw WebSocketError(.cancelled) }
        connect()
        let outcome = await answer.wait(
            upTo: configuration.openTimeout,
            on: clock,
            else: WebSocketError(transport: TransportError(.connectTimeout))
        )
        guard case .failure(let error) = outcome else { return try outcome.get() }
        let refusal = abandon()
        // A server that refuses and never ends its response has still refused.
        if let refusal, error.code == .transport {
            throw WebSocketError(.upgradeRefused, response: refusal)
        }
        throw error
    }

    private func connect() {
        let eventLoop = Self.eventLoops.next()
        guard exchange.isSecure else { return connect(on: eventLoop, nil) }
        tls.make(on: eventLoop).whenComplete { made in
            switch made {
            case .success(let context): self.connect(on: eventLoop, context)
            case .failure(let error):
                self.fail(
                    WebSocketError(
                        .invalidRequest,
                        "The certificates of the transport, or of the system, cannot be read.",
                        cause: error
                    )
                )
            }
        }
    }

    /// The event loops of all WebSockets.
    ///
    /// Separate from SwiftNIO's shared loops, which HTTP clients use, because compressing one large
    /// message may take a hundred milliseconds. Like those, they live until the process ends.
    static let eventLoops = MultiThreadedEventLoopGroup(
        numberOfThreads: min(4, System.coreCount)
    )

    private func connect(on eventLoop: any EventLoop, _ context: NIOSSLContext?) {
        ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(configuration.openTimeout))
            // Nothing is read before the handlers are in place.
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in self.adopt(channel) }
            .connect(host: exchange.host, port: exchange.port)
            .flatMap { channel in
                channel.eventLoop.submit { try self.addHandlers(to: channel, context) }
                    .flatMap { channel.setOption(.autoRead, value: true) }
            }
            .whenFailure { error in
                self.fail(
                    WebSocketError(
                        transport: TransportError(fromSwiftNIO: error, during: .connect)
                    )
                )
            }
    }

    private func adopt(_ channel: any Channel) -> EventLoopFuture<Void> {
        let isAbandoned = state.withLock { state in
            state.channels.append(channel)
            return state.isAbandoned
        }
        guard isAbandoned else { return channel.eventLoop.makeSucceededVoidFuture() }
        return channel.eventLoop.makeFailedFuture(CancellationError())
    }

    private func addHandlers(to channel: any Channel, _ tls: NIOSSLContext?) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            // An IP address is not sent as a server name; the certificate is then compared with it.
            let isAddress = (try? SocketAddress(ipAddress: exchange.host, port: 0)) != nil
            try pipeline.addHandler(
                NIOSSLClientHandler(
                    context: tls,
                    serverHostname: isAddress ? nil : exchange.host
                )
            )
        }
        try pipeline.addHandler(UpgradeHandler(exchange, configuration, self))
    }

    // MARK: From the event loop

    /// Stores what is known of a refusal whose body is still arriving.
    func note(_ refusal: WebSocketError.Response) {
        state.withLock { $0.refusal = refusal }
    }

    func fail(_ error: WebSocketError) { answer.give(.failure(error)) }

    func finish(
        _ channel: any Channel,
        _ handler: WebSocketHandler,
        _ mailbox: MessageMailbox,
        _ handshake: WebSocketHandshake
    ) {
        let opened = NIOWebSocketChannel(channel, handler, mailbox, handshake, configuration, clock)
        // If no task waits any more, `abandon` closes the channel.
        answer.give(.success(opened))
    }

    private func abandon() -> WebSocketError.Response? {
        let (channels, refusal) = state.withLock { state in
            state.isAbandoned = true
            return (state.channels, state.refusal)
        }
        for channel in channels { channel.close(promise: nil) }
        return refusal
    }
}
#endif
