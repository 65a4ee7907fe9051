internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The restaurant service: a small JSON API over HTTP/1.1, for this machine only.
public struct RestaurantAPIServer: Sendable {
    private let responder: APIResponder

    /// Creates a service that offers a catalogue.
    public init(_ catalogue: RestaurantCatalogue) {
        responder = APIResponder(catalogue: catalogue)
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
            for try await part in requests {
                switch part {
                case .head(let received): head = received
                case .body: continue
                case .end:
                    guard let head else { continue }
                    try await answer(head, responses)
                    if !head.isKeepAlive { return }
                }
            }
        }
    }

    private func answer(
        _ head: HTTPRequestHead,
        _ responses: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    ) async throws {
        let response = responder.answer(
            APIRequest(
                method: head.method.rawValue,
                target: head.uri,
                knownVersion: head.headers.first(name: "If-None-Match")
            )
        )
        var headers: HTTPHeaders = ["Content-Type": "application/json"]
        if let version = response.version { headers.add(name: "ETag", value: version) }
        if response.status != 304 {
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
