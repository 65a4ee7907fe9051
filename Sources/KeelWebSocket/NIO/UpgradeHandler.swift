#if WebSocket
import HTTPTypes
import KeelHTTP
import NIOCore
import NIOHTTP1

/// Sends the request for a WebSocket and makes room for one when the server agrees.
final class UpgradeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let exchange: UpgradeExchange
    private let configuration: WebSocketConfiguration
    private let opening: WebSocketOpening
    private let encoder: HTTPRequestEncoder
    private let decoder: ByteToMessageHandler<HTTPResponseDecoder>

    private var head: HTTPResponse?
    private var body: [UInt8] = []
    private var isDone = false

    init(
        _ exchange: UpgradeExchange,
        _ configuration: WebSocketConfiguration,
        _ opening: WebSocketOpening
    ) {
        self.exchange = exchange
        self.configuration = configuration
        self.opening = opening
        encoder = HTTPRequestEncoder()
        decoder = ByteToMessageHandler(
            HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes)
        )
    }

    /// The handlers in the order of the pipeline, this one last.
    var all: [any ChannelHandler] { [encoder, decoder, self] }

    func handlerAdded(context: ChannelHandlerContext) {
        let head = HTTPRequestHead(
            version: .http1_1,
            method: .GET,
            uri: exchange.target,
            headers: HTTPHeaders(exchange.fields.map { ($0.name, $0.value) })
        )
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDone else { return context.fireChannelRead(data) }
        switch unwrapInboundIn(data) {
        case .head(let head):
            let head = HTTPResponse(head)
            self.head = head
            if head.status != .switchingProtocols { opening.note(refusal(isComplete: false)) }
        case .body(let part):
            let room = configuration.refusalBodyLimit - body.count
            body.append(contentsOf: part.readableBytesView.prefix(max(0, room)))
            if part.readableBytes > room { refuse(context, isComplete: false) }
        case .end:
            if head?.status == .switchingProtocols {
                upgrade(context)
            } else {
                refuse(context, isComplete: true)
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if head != nil {
            refuse(context, isComplete: false)
        } else {
            fail(context, TransportError(.connectionLost, phase: .awaitHead))
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if head != nil {
            refuse(context, isComplete: false)
        } else {
            fail(context, TransportError(fromSwiftNIO: error, during: .awaitHead))
        }
    }

    private func upgrade(_ context: ChannelHandlerContext) {
        do throws(AnswerFlaw) {
            let agreement = try exchange.accept(head?.headerFields ?? [:])
            isDone = true
            let mailbox = MessageMailbox(capacity: configuration.receiveBufferSize)
            let handler = WebSocketHandler(configuration, agreement.deflate, mailbox: mailbox)
            install(handler, context)
            opening.finish(context.channel, handler, mailbox, agreement.handshake)
        } catch {
            end(context, error.error)
        }
    }

    private func install(_ handler: WebSocketHandler, _ context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            try pipeline.addHandler(handler, position: .after(self))
        } catch {
            return end(context, WebSocketError(.unknown, cause: error))
        }
        // This one first: bytes that came with the answer then go on to the new handler.
        pipeline.removeHandler(context: context, promise: nil)
        pipeline.removeHandler(decoder, promise: nil)
        pipeline.removeHandler(encoder, promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext, isComplete: Bool) {
        end(
            context,
            WebSocketError(.upgradeRefused, refusal: refusal(isComplete: isComplete))
        )
    }

    private func refusal(isComplete: Bool) -> WebSocketError.Refusal {
        WebSocketError.Refusal(
            head: head ?? HTTPResponse(status: .init(code: 0)),
            body: body,
            isComplete: isComplete
        )
    }

    private func fail(_ context: ChannelHandlerContext, _ error: TransportError) {
        end(context, WebSocketError(transport: error))
    }

    private func end(_ context: ChannelHandlerContext, _ error: WebSocketError) {
        guard !isDone else { return }
        isDone = true
        opening.fail(error)
        context.close(promise: nil)
    }
}

extension HTTPResponse {
    fileprivate init(_ head: HTTPResponseHead) {
        var fields = HTTPFields()
        for (name, value) in head.headers {
            // The parser lets no other names through; one that is not a token is no field.
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        self.init(
            status: Status(
                code: Int(head.status.code),
                reasonPhrase: head.status.reasonPhrase
            ),
            headerFields: fields
        )
    }
}
#endif
