internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The restaurant service: a small JSON API over HTTP/1.1, for this machine only.
public struct RestaurantAPIServer: Sendable {
    /// How many bytes the body of a request may have.
    private static let longestBody = 64 * 1024

    private let responder: APIResponder

    /// Creates a service that offers a catalogue.
    ///
    /// - Parameters:
    ///   - catalogue: The restaurants.
    ///   - hasHiccups: Whether first requests go wrong, to show how a client copes.
    ///   - log: Told what became of each write, on one line.
    public init(
        _ catalogue: RestaurantCatalogue,
        hasHiccups: Bool = false,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        responder = APIResponder(
            catalogue: catalogue,
            hiccups: hasHiccups ? Hiccups() : nil,
            log: log
        )
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - port: The port; 0 takes any that is free.
    ///   - onStart: Told the port once connections are accepted.
    /// - Throws: What opening the port throws, for example that another program has it.
    public func run(port: Int, onStart: @Sendable (Int) -> Void) async throws {
        typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                        withPipeliningAssistance: true,
                        withErrorHandling: true
                    )
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        onStart(listener.channel.localAddress?.port ?? port)
        try await withThrowingDiscardingTaskGroup { group in
            try await listener.executeThenClose { connections in
                for try await connection in connections {
                    group.addTask {
                        // A connection that breaks is the client's loss, not the service's.
                        try? await serve(connection)
                    }
                }
            }
        }
    }

    private func serve(
        _ connection: NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
    ) async throws {
        try await connection.executeThenClose { requests, responses in
            var head: HTTPRequestHead?
            var body: [UInt8] = []
            for try await part in requests {
                switch part {
                case .head(let received):
                    head = received
                    body = []
                case .body(let piece):
                    body += piece.readableBytesView
                    // Nobody sends so much in good faith.
                    if body.count > Self.longestBody { return }
                case .end:
                    guard let head else { continue }
                    let response = response(to: head, body)
                    if response.isLost { return }
                    try await send(response, to: head, responses)
                    if !head.isKeepAlive { return }
                }
            }
        }
    }

    private func response(to head: HTTPRequestHead, _ body: [UInt8]) -> APIResponse {
        responder.answer(
            APIRequest(
                method: head.method.rawValue,
                target: head.uri,
                knownVersion: head.headers.first(name: "If-None-Match"),
                authorization: head.headers.first(name: "Authorization"),
                idempotencyKey: head.headers.first(name: "Idempotency-Key"),
                body: body
            )
        )
    }

    private func send(
        _ response: APIResponse,
        to head: HTTPRequestHead,
        _ responses: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    ) async throws {
        var headers: HTTPHeaders = ["Content-Type": "application/json"]
        if let version = response.version { headers.add(name: "ETag", value: version) }
        for (name, value) in response.fields { headers.add(name: name, value: value) }
        if response.status != 304, response.status != 204 {
            headers.add(name: "Content-Length", value: "\(response.body.count)")
        }
        if !head.isKeepAlive { headers.add(name: "Connection", value: "close") }
        let status = HTTPResponseStatus(statusCode: response.status)
        try await responses.write(
            contentsOf: [
                .head(HTTPResponseHead(version: head.version, status: status, headers: headers)),
                .body(.byteBuffer(ByteBuffer(bytes: response.body))),
                .end(nil),
            ]
        )
    }
}
