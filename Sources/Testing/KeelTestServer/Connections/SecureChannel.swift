#if TestServer
import KeelTestKit
import NIOCore
import NIOSSL
import NIOTLS

/// The TLS of a server's connections.
struct SecureChannel: Sendable {
    let context: NIOSSLContext
    let fault: FaultServer.HandshakeFault?

    init(_ tls: FaultServer.TLS, _ protocols: [FaultServer.Version]) throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try tls.identity.chain,
            privateKey: try tls.identity.privateKey
        )
        configuration.applicationProtocols = protocols.map(\.rawValue)
        if let authority = tls.clientAuthority {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = try authority.trustRoots
        }
        if tls.maximumVersion == .tls12 { configuration.maximumTLSVersion = .tlsv12 }
        context = try NIOSSLContext(configuration: configuration)
        fault = tls.fault
    }

    /// Performs the handshake and returns the connection on top of it.
    func open(_ channel: any Channel) async throws -> (ServerConnection.Channels, String?) {
        let gate = try await channel.eventLoop.submit {
            let gate = HandshakeGate(channel)
            do {
                try channel.pipeline.syncOperations.addHandlers([
                    NIOSSLServerHandler(context: context), gate,
                ])
            } catch {
                // The client is already gone.
                gate.fail(error)
            }
            return gate.opened
        }.get()
        try? await channel.setOption(.autoRead, value: true).get()
        return try await gate.get()
    }
}

/// A handler that wraps the channel at the end of the handshake, before any byte can pass.
private final class HandshakeGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let channel: any Channel
    private let promise: EventLoopPromise<(ServerConnection.Channels, String?)>
    private var isDone = false

    var opened: EventLoopFuture<(ServerConnection.Channels, String?)> { promise.futureResult }

    init(_ channel: any Channel) {
        self.channel = channel
        promise = channel.eventLoop.makePromise()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !isDone, case .handshakeCompleted(let version)? = event as? TLSUserEvent {
            isDone = true
            promise.completeWith(
                Result {
                    (try ServerConnection.Channels(wrappingChannelSynchronously: channel), version)
                }
            )
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(error)
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        fail(ChannelError.eof)
    }

    func fail(_ error: any Error) {
        guard !isDone else { return }
        isDone = true
        promise.fail(error)
    }
}
#endif
