#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import HTTPTypes
import KeelHTTP
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Tracks the exchanges of a connection, and keeps requests from servers with the wrong key.
///
/// Placed between AsyncHTTPClient's handler and the encoder: for HTTP/1.1 in the connection's
/// pipeline, for HTTP/2 in that of each stream.
final class ExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The field with the number of the exchange, which is removed here and never sent.
    static let field = "keel-exchange"

    let connection: Connection
    private let waiting: WaitingExchanges
    private let sending: SendStallTimeout
    private var exchange: Exchange?
    private var context: ChannelHandlerContext?

    /// The remaining length of the response's body, if it was announced.
    private var remaining: Int?
    private var heldEnd: NIOAny?
    private var holdsEnd = false

    init(_ connection: Connection, _ waiting: WaitingExchanges, writeTimeout: TimeAmount) {
        self.connection = connection
        self.waiting = waiting
        sending = SendStallTimeout(writeTimeout)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            exchange = head.headers.first(name: Self.field).flatMap { UInt64($0) }
                .flatMap { waiting.take($0) }
            // A request that was given up on its way here has no path and no pins.
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

    /// Writes a piece of the body, and makes room for the next once the network has taken it.
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
        // AsyncHTTPClient's promise may belong to another event loop.
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
            // AsyncHTTPClient ignores interim responses.
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
            // The response is complete, and these bytes do not belong to it.
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

// MARK: Called by handlers before the decoder

extension ExchangeHandler {
    var isAnswering: Bool { exchange != nil }

    /// Returns whether the response may end before the last of a number of bytes.
    func mayEnd(before count: Int) -> Bool {
        isAnswering && count > 1 && (remaining ?? 0) < count
    }

    /// Holds back the end of a response, because AsyncHTTPClient reuses the connection at once,
    /// while the decoder may still be processing later bytes.
    func holdEnd() { holdsEnd = true }

    func releaseEnd() {
        holdsEnd = false
        guard let end = heldEnd else { return }
        heldEnd = nil
        context?.fireChannelRead(end)
    }
}

extension HTTPRequestHead {
    /// The size of this head in HTTP/1.1, in bytes; HTTP/2 compresses it.
    fileprivate var size: Int {
        headers.reduce(method.rawValue.utf8.count + uri.utf8.count + 14) { size, field in
            size + field.name.utf8.count + field.value.utf8.count + 4
        }
    }
}

/// A connection as seen by its exchanges; used only on its channel's event loop.
final class Connection {
    /// The SHA-256 digest of the server's public key; nil on a connection without TLS.
    let keyDigest: [UInt8]?

    let health = ConnectionHealth()

    private let id: String
    private let version: String
    private let remoteAddress: String?
    private(set) var hasCarriedExchange = false

    /// Whether the server has sent bytes outside any response, so that no more requests may follow.
    var isSpoiled = false

    /// Keeps the pool from starting new exchanges on the connection, without ending others; nil if
    /// a connection carries one exchange at a time.
    fileprivate(set) var retire: (() -> Void)?

    init(_ channel: any Channel, version: String, keyDigest: [UInt8]?) {
        id = String(describing: ObjectIdentifier(channel).hashValue.magnitude)
        self.version = version
        self.keyDigest = keyDigest
        remoteAddress = channel.remoteAddress.map { "\($0)" }
    }

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

/// Tracks an HTTP/2 connection, from a place in the pipeline where its streams find it.
final class ConnectionHolder: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline
        // AsyncHTTPClient releases a connection whose server takes no more requests. This tells it
        // so in the server's name, with the highest possible stream, so that no stream ends.
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
        // The multiplexer passes on frames that belong to no stream.
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
