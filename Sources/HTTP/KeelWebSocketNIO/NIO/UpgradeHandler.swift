#if WebSocket
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelWebSocket
import NIOCore
import NIOHTTP1
import NIOSSL

/// Sends the request for a WebSocket, and installs the WebSocket handler if the server agrees.
///
/// SwiftNIO's HTTP decoder passes on the bytes after a head late, and not at all if the server
/// hangs up at once. They matter here, so the decoder reads only the bodies of refusals.
final class UpgradeHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Stage {
        case waiting
        case refused
        case done
    }

    private let exchange: UpgradeExchange
    private let configuration: WebSocketConfiguration
    private let opening: WebSocketOpening
    private var stage = Stage.waiting
    private var isRequested = false
    private var input: [UInt8] = []

    init(
        _ exchange: UpgradeExchange,
        _ configuration: WebSocketConfiguration,
        _ opening: WebSocketOpening
    ) {
        self.exchange = exchange
        self.configuration = configuration
        self.opening = opening
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if !exchange.isSecure { request(context, certificate: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Such an event marks the end of the handshake. NIOSSL holds earlier writes until then, and
        // drops them if the handshake fails.
        if exchange.isSecure,
            let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
        {
            request(context, certificate: certificate)
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Sends the request, unless the server's key violates the pins.
    private func request(_ context: ChannelHandlerContext, certificate: NIOSSLCertificate?) {
        guard case .waiting = stage, !isRequested else { return }
        isRequested = true
        if exchange.isSecure, let pins = configuration.pins {
            let key = try? certificate?.extractPublicKey().toSPKIBytes()
            guard pins.allows(key.map(SecureHash.digest), for: exchange.host) else {
                return fail(context, TransportError(.tlsPinMismatch))
            }
        }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: exchange.head)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .waiting = stage else { return context.fireChannelRead(data) }
        input.append(contentsOf: unwrapInboundIn(data).readableBytesView)
        do throws(ResponseHead.Flaw) {
            while case .waiting = stage, let head = try ResponseHead.read(input) {
                handle(head, context)
            }
        } catch {
            fail(context, TransportError(.protocolViolation, phase: .awaitHead))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Nothing more is sent to a server that has refused: see `RefusalHandler`.
        guard case .refused = stage else { return context.write(data, promise: promise) }
        promise?.succeed()
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(context, TransportError(.connectionLost, phase: .awaitHead))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .waiting = stage else { return context.fireErrorCaught(error) }
        fail(context, TransportError(fromSwiftNIO: error, during: .awaitHead))
    }

    private func handle(_ head: ResponseHead, _ context: ChannelHandlerContext) {
        switch head.response.status.code {
        case 101:
            input.removeFirst(head.length)
            upgrade(head.response, context)
        case 100..<200:
            input.removeFirst(head.length)
        default:
            refuse(head.response, context)
        }
    }

    private func upgrade(_ head: HTTPResponse, _ context: ChannelHandlerContext) {
        do throws(AnswerFlaw) {
            let agreement = try exchange.accept(head)
            let mailbox = MessageMailbox(capacity: configuration.receiveBufferSize)
            let handler = WebSocketHandler(configuration, agreement.deflate, mailbox: mailbox)
            stage = .done
            guard add(handler, after: self, context) else { return }
            opening.finish(context.channel, handler, mailbox, agreement.handshake)
            handOn(context)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        } catch {
            end(context, error.error)
        }
    }

    private func refuse(_ head: HTTPResponse, _ context: ChannelHandlerContext) {
        stage = .refused
        opening.note(.init(head: head, isComplete: false))
        let decoder = ByteToMessageHandler(HTTPResponseDecoder())
        let collector = RefusalHandler(head, limit: configuration.errorBodyLimit, opening)
        // In this order: the decoder must exist when the collector is added.
        guard add(decoder, after: self, context), add(collector, after: decoder, context) else {
            return
        }
        handOn(context)
    }

    /// Passes the remaining bytes to the handlers just added.
    private func handOn(_ context: ChannelHandlerContext) {
        guard !input.isEmpty else { return }
        context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: input)))
        input = []
    }

    private func add(
        _ handler: any ChannelHandler,
        after other: any ChannelHandler,
        _ context: ChannelHandlerContext
    ) -> Bool {
        do {
            let pipeline = context.pipeline.syncOperations
            try pipeline.addHandler(handler, position: .after(other))
            return true
        } catch {
            // Only a closed pipeline refuses handlers.
            fail(context, TransportError(.connectionLost, phase: .awaitHead, cause: error))
            return false
        }
    }

    private func fail(_ context: ChannelHandlerContext, _ error: TransportError) {
        end(context, WebSocketError(transport: error))
    }

    private func end(_ context: ChannelHandlerContext, _ error: WebSocketError) {
        if case .waiting = stage { opening.fail(error) }
        if case .refused = stage { return }
        stage = .done
        context.close(promise: nil)
    }
}

final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPResponse
    private let limit: Int
    private let opening: WebSocketOpening
    private var body: [UInt8] = []

    init(_ head: HTTPResponse, limit: Int, _ opening: WebSocketOpening) {
        self.head = head
        self.limit = limit
        self.opening = opening
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // The decoder expects a request first, which stops at the upgrade handler.
        let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        context.write(wrapOutboundOut(.head(request)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: break
        case .body(let part):
            let room = limit - body.count
            body.append(contentsOf: part.readableBytesView.prefix(room))
            opening.note(refusal(isComplete: false))
            if part.readableBytes > room { end(context, isComplete: false) }
        case .end: end(context, isComplete: true)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(context, isComplete: false)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(context, isComplete: false)
    }

    private func end(_ context: ChannelHandlerContext, isComplete: Bool) {
        opening.fail(WebSocketError(.upgradeRefused, response: refusal(isComplete: isComplete)))
        context.close(promise: nil)
    }

    private func refusal(isComplete: Bool) -> WebSocketError.Response {
        WebSocketError.Response(head: head, body: body, isComplete: isComplete)
    }
}
#endif
