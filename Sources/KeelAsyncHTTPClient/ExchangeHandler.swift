#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import HTTPTypes
import KeelHTTP
import NIOCore
import NIOHTTP1

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

    private let connection: Connection
    private let waiting: WaitingExchanges
    private var exchange: Exchange?

    init(_ connection: Connection, _ waiting: WaitingExchanges) {
        self.connection = connection
        self.waiting = waiting
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            exchange = head.headers.first(name: Self.field).flatMap { UInt64($0) }
                .flatMap { waiting.take($0) }
            head.headers.remove(name: Self.field)
            if let exchange, let pins = exchange.pins,
                !pins.allows(connection.keyDigest, for: exchange.host)
            {
                let mismatch = TransportError(.tlsPinMismatch)
                promise?.fail(mismatch)
                context.fireErrorCaught(mismatch)
                context.close(promise: nil)
                return
            }
            exchange?.connected(to: connection.next())
            exchange?.sentHead(bytes: head.size)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let body):
            exchange?.sentBody(bytes: body.readableBytes)
            context.write(data, promise: promise)
        case .end:
            exchange?.sentEnd()
            context.write(data, promise: promise)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            if head.status.code >= 200 { exchange?.responseBegan() }
        case .body(let body):
            exchange?.received(bytes: body.readableBytes)
        case .end(let trailers):
            exchange?.received(trailers: trailers.map { HTTPFields($0) })
            endExchange()
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        endExchange()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { endExchange() }

    private func endExchange() {
        exchange?.ended()
        exchange = nil
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

    private let id: String
    private let version: String
    private let remoteAddress: String?
    private var hasCarriedExchange = false

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

/// Keeps what is known of an HTTP/2 connection in its pipeline, where its streams find it.
final class ConnectionHolder: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }
}
#endif
