#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import HTTPTypes
import KeelHTTP
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Follows the exchanges of a connection, and keeps requests from servers with the wrong key.
///
/// It stands between AsyncHTTPClient's own handler and the encoder: of HTTP/1.1 in the pipeline of
/// the connection, of HTTP/2 in that of each stream.
final class ExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// Carries the number of the exchange from the request to this handler; it is never sent.
    static let field = "keel-exchange"

    let connection: Connection
    private let waiting: WaitingExchanges
    private let sending: SendWatch
    private var exchange: Exchange?
    private var context: ChannelHandlerContext?

    /// The rest of the response's body, where its length was announced.
    private var remaining: Int?
    private var heldEnd: NIOAny?
    private var holdsEnd = false

    init(_ connection: Connection, _ waiting: WaitingExchanges, writeTimeout: TimeAmount) {
        self.connection = connection
        self.waiting = waiting
        sending = SendWatch(writeTimeout)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            exchange = head.headers.first(name: Self.field).flatMap { UInt64($0) }
                .flatMap { waiting.take($0) }
            // Given up on its way here, a request has nobody who says where it goes, and no pins.
            guard let exchange else {
                refuse(TransportError(.cancelled, processed: .no), context, promise)
                return
            }
            if connection.isSpoiled, !connection.hasCarriedExchange {
                refuse(TransportError(.protocolViolation, processed: .no), context, promise)
                return
            }
            if exchange.wantsNewConnection && connection.hasCarriedExchange || connection.isSpoiled
            {
                connection.retire?()
                refuse(.usedConnection, context, promise)
                return
            }
            guard exchange.pins?.allows(connection.keyDigest, for: exchange.host) ?? true else {
                refuse(TransportError(.tlsPinMismatch), context, promise)
                return
            }
            head.headers.remove(name: Self.field)
            if let path = exchange.path { head.uri = path }
            exchange.connected(to: connection.next(), connection.health)
            exchange.sentHead(bytes: head.size)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let body):
            write(body, data, context, promise)
        case .end:
            exchange?.sentEnd()
            context.write(data, promise: promise)
        }
    }

    /// Ends the connection, and with it the exchange.
    private func refuse(
        _ error: TransportError,
        _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>?
    ) {
        // AsyncHTTPClient may close the channel before it tells the request why.
        exchange?.refused(because: error)
        promise?.fail(error)
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    /// Writes a piece of the body, and makes room for the next one when the network has taken it.
    private func write(
        _ body: IOData,
        _ data: NIOAny,
        _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>?
    ) {
        guard let exchange else {
            context.write(data, promise: promise)
            return
        }
        let count = body.readableBytes
        exchange.sentBody(bytes: count)
        sending.handedOver(count, on: context.eventLoop) {
            self.refuse(TransportError(.writeTimeout), context, nil)
        }
        // The promise of AsyncHTTPClient may be one of another event loop.
        let taken = context.eventLoop.makePromise(of: Void.self)
        taken.futureResult.cascade(to: promise)
        taken.futureResult.assumeIsolated().whenComplete { _ in
            self.sending.taken(count)
            exchange.window.taken(count)
        }
        context.write(data, promise: taken)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // AsyncHTTPClient passes over interim responses.
            if head.status.code < 200 {
                exchange?.received(interim: head.status, head.headers)
            } else {
                exchange?.responseBegan()
                if !head.headers.contains(name: "transfer-encoding") {
                    remaining = head.headers.first(name: "content-length").flatMap { Int($0) }
                }
            }
        case .body(let body):
            exchange?.received(bytes: body.readableBytes)
            remaining = remaining.map { $0 - body.readableBytes }
        case .end(let trailers):
            exchange?.received(trailers: trailers.map { HTTPFields($0) })
            endExchange()
            if holdsEnd {
                heldEnd = data
                return
            }
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard heldEnd == nil else {
            // The response is complete: these bytes do not belong to it.
            connection.isSpoiled = true
            return
        }
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        endExchange()
        context.fireChannelInactive()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        endExchange()
    }

    private func endExchange() {
        remaining = nil
        sending.end()
        exchange?.ended()
        exchange = nil
    }
}

// MARK: Asked by what stands before the decoder

extension ExchangeHandler {
    /// Whether a response is awaited, or under way.
    var isAnswering: Bool { exchange != nil }

    /// Whether the response may end before the last of so many bytes.
    func mayEnd(before count: Int) -> Bool {
        isAnswering && count > 1 && (remaining ?? 0) < count
    }

    /// Keeps the end of a response back: AsyncHTTPClient takes it as leave to use the connection
    /// again at once, while the decoder may still be at work on the bytes behind it.
    func holdEnd() { holdsEnd = true }

    /// Hands on the end that was kept back.
    func releaseEnd() {
        holdsEnd = false
        guard let end = heldEnd else { return }
        heldEnd = nil
        context?.fireChannelRead(end)
    }
}

extension HTTPRequestHead {
    /// The bytes that this head has in HTTP/1.1; HTTP/2 packs them more tightly.
    fileprivate var size: Int {
        headers.reduce(method.rawValue.utf8.count + uri.utf8.count + 14) { size, field in
            size + field.name.utf8.count + field.value.utf8.count + 4
        }
    }
}

/// One connection, as the exchanges on it see it.
///
/// It is used on the event loop of its channel only.
final class Connection {
    /// The SHA-256 digest of the server's public key; nil on a connection without TLS.
    let keyDigest: [UInt8]?

    /// What the failure of an exchange may have to do with.
    let health = ConnectionHealth()

    private let id: String
    private let version: String
    private let remoteAddress: String?
    private(set) var hasCarriedExchange = false

    /// Whether the server has sent something that belongs to no response: no more requests.
    var isSpoiled = false

    /// Has the pool begin no more exchanges on the connection, those under way go on; nil where an
    /// exchange has the connection for itself.
    fileprivate(set) var retire: (() -> Void)?

    init(_ channel: any Channel, version: String, keyDigest: [UInt8]?) {
        id = String(describing: ObjectIdentifier(channel).hashValue.magnitude)
        self.version = version
        self.keyDigest = keyDigest
        remoteAddress = channel.remoteAddress.map { "\($0)" }
    }

    /// Describes the connection for the exchange that begins now.
    func next() -> ConnectionInfo {
        defer { hasCarriedExchange = true }
        return ConnectionInfo(
            id: id,
            isReused: hasCarriedExchange,
            version: version,
            remoteAddress: remoteAddress
        )
    }
}

/// Follows an HTTP/2 connection, and is in its pipeline where its streams find it.
final class ConnectionHolder: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline
        // AsyncHTTPClient lets go of a connection whose server takes no more requests. It is told
        // so in the server's name, with the highest stream there can be: none is ended by it.
        connection.retire = {
            let frame = HTTP2Frame(
                streamID: .rootStream,
                payload: .goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil)
            )
            try? pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
                .fireChannelRead(NIOAny(frame))
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { connection.retire = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The multiplexer passes on what belongs to no stream.
        if case .goAway(let last, _, _) = unwrapInboundIn(data).payload {
            connection.health.goAway(Int(last))
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is any NIOHTTP2Error { connection.health.broke(error) }
        context.fireErrorCaught(error)
    }
}
#endif
