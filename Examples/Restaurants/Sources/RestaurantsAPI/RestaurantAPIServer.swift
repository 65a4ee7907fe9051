internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The restaurant service: a small JSON API over HTTP/1.1, for this machine only.
public struct RestaurantAPIServer: Sendable {
    /// The maximum size of a request's body in bytes.
    private static let longestBody = 64 * 1024

    private let responder: APIResponder

    /// Creates a service for a catalogue.
    ///
    /// - Parameters:
    ///   - catalogue: The restaurants.
    ///   - hasHiccups: Whether first requests fail, to show how a client copes.
    ///   - log: Receives the outcome of each write, on one line.
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

    /// Serves until the task is canceled.
    ///
    /// - Parameters:
    ///   - port: The port; 0 selects any free port.
    ///   - onStart: Receives the port once connections are accepted.
    /// - Throws: The error of opening the port, for example because it is in use.
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
                        // A broken connection affects only its client.
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
                    // A legitimate client does not send this much.
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
