import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload
import Synchronization

/// A server on SwiftNIO's own implementation of the IETF's protocol; it keeps what it gets.
final class UploadServer: Sendable {
    private let kept: Kept
    private let listener: any Channel

    /// The port on 127.0.0.1.
    let port: Int

    /// The server's uploads, shared by its connections.
    final class Kept: Sendable {
        private let state = Mutex((bodies: [[UInt8]](), channels: [any Channel](), same: 0))
        /// The block that bodies repeat, which are then not stored; nil to store them.
        let block: ByteBuffer?

        init(repeating block: [UInt8]? = nil) { self.block = block.map { ByteBuffer(bytes: $0) } }

        var bodies: [[UInt8]] { state.withLock { $0.bodies } }
        /// The number of received bytes that repeat the block, each in its place.
        var sameByteCount: Int { state.withLock { $0.same } }

        func add(same count: Int) { state.withLock { $0.same += count } }
        var channels: [any Channel] { state.withLock { $0.channels } }

        func add(_ body: [UInt8]) { state.withLock { $0.bodies.append(body) } }
        func add(_ channel: any Channel) { state.withLock { $0.channels.append(channel) } }
    }

    /// The bodies of all complete uploads.
    var uploads: [[UInt8]] { kept.bodies }

    /// Starts a server on a port, 0 for a free one, with the uploads of earlier servers.
    init(port: Int = 0, kept: Kept = Kept()) async throws {
        self.kept = kept
        // Locations are relative, because the port is unknown before the server listens.
        let context = HTTPResumableUploadContext(origin: "")
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                kept.add(channel)
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
                    try pipeline.addHandler(
                        HTTPResumableUploadHandler(context: context, handlers: [Keeper(kept)])
                    )
                }
            }
            .bind(host: "127.0.0.1", port: port)
            .get()
        self.port = listener.localAddress?.port ?? 0
    }

    /// Closes every connection; the uploads stay.
    func cut() {
        for channel in kept.channels { channel.close(promise: nil) }
    }

    /// Ends the server, which forgets unfinished uploads.
    func stop() async throws {
        try await listener.close().get()
        cut()
    }
}

/// Collects the body of an upload, and answers once it is whole.
private final class Keeper: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let kept: UploadServer.Kept
    private var body: [UInt8] = []
    private var byteCount = 0
    private var method = HTTPRequest.Method.post

    init(_ kept: UploadServer.Kept) { self.kept = kept }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            method = head.method
            body = []
            if method == .options { answer(.notImplemented, context) }
        case .body(let bytes):
            if let block = kept.block {
                compare(bytes, block)
            } else {
                body.append(contentsOf: bytes.readableBytesView)
            }
        case .end:
            guard method != .options else { return }
            kept.add(body)
            answer(.created, context)
        }
    }

    private func compare(_ bytes: ByteBuffer, _ block: ByteBuffer) {
        var bytes = bytes
        while bytes.readableBytes > 0 {
            let start = byteCount % block.readableBytes
            let count = min(bytes.readableBytes, block.readableBytes - start)
            guard let part = bytes.readSlice(length: count) else { return }
            byteCount += count
            if part == block.getSlice(at: start, length: count) { kept.add(same: count) }
        }
    }

    private func answer(_ status: HTTPResponse.Status, _ context: ChannelHandlerContext) {
        let head = HTTPResponse(status: status, headerFields: [.contentLength: "4"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(string: "kept"))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
