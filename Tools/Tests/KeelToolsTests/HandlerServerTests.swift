import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelHummingbird
import KeelServing
import KeelStorage
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import ServiceLifecycle
import Synchronization
import Testing

@Suite("A handler behind Hummingbird", .timeLimit(.minutes(10)))
struct HandlerServerTests {
    /// Answers with the request; `/wait` only after `open`.
    private struct Echo: ServingHandler {
        var open: AsyncStream<Void>?
        var reached: AsyncStream<Void>.Continuation?

        func respond(to call: HTTPCall) async -> HTTPReply {
            if call.head.path == "/wait", let open {
                reached?.finish()
                for await _ in open {}
            }
            if call.head.path == "/cut" {
                return HTTPReply(
                    head: HTTPResponse(status: .ok),
                    body: .chunks([[1]], thenThrow: TransportError(.connectionLost))
                )
            }
            do throws(TransportError) {
                let body = try await call.body?.open().collect(upTo: 1 << 20) ?? []
                var reply = HTTPReply.bytes(.ok, type: "text/plain", body)
                reply.head.headerFields[.location] = call.head.path
                return reply
            } catch { return .text(.badRequest, error.message) }
        }
    }

    private func call(
        _ port: Int,
        _ path: String,
        _ method: HTTPRequest.Method = .get,
        body: HTTPBody? = nil
    ) -> HTTPCall {
        let head = HTTPRequest(method, to: "127.0.0.1:\(port)", path)
        return HTTPCall(head, body: body)
    }

    @Test("Requests and responses pass, with and without a length")
    func echoes() async throws {
        try await RunningServer.with(Echo()) { port in
            let transport = AsyncHTTPClientTransport()
            let plain = try await transport.send(call(port, "/a?b=c"))
            #expect(plain.head.status == .ok)
            #expect(plain.head.headerFields[.location] == "/a?b=c")
            let sized = HTTPBody(Array("Hello".utf8))
            let pieces = HTTPBody(length: nil, isReplayable: true) {
                () async throws(TransportError) in .chunks([[72, 101], [108, 108, 111]])
            }
            for body in [sized, pieces] {
                let reply = try await transport.send(call(port, "/", .put, body: body))
                #expect(try await reply.body.collect(upTo: 100) == Array("Hello".utf8))
            }
            await transport.shutdown()
        }
    }

    @Test("A response whose body breaks off is truncated, not ended")
    func cuts() async throws {
        try await RunningServer.with(Echo()) { port in
            let transport = AsyncHTTPClientTransport()
            let reply = try await transport.send(call(port, "/cut"))
            await #expect(throws: TransportError.self) { try await reply.body.collect(upTo: 100) }
            await transport.shutdown()
        }
    }

    @Test(
        "A request that asks for another protocol is answered, and its connection ends",
        arguments: [
            "GET / HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n",
            "POST / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n",
            "CONNECT localhost:80 HTTP/1.1\r\n",
        ]
    )
    func otherProtocols(request: String) async throws {
        try await RunningServer.with(Echo()) { port in
            try await RawClient.connected(to: port) { client in
                try await client.send(request + "Host: localhost\r\n\r\n")
                // Returns once the server has closed the connection.
                let answer = await client.readToEnd().lowercased()
                #expect(answer.hasPrefix("http/1.1 200"))
                #expect(answer.contains("\r\nconnection: close\r\n"))
            }
        }
    }

    /// Counts the bytes that reach the decoder.
    private final class ByteCounter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer

        var count = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            count += unwrapInboundIn(data).readableBytes
            context.fireChannelRead(data)
        }
    }

    /// Returns the number of bytes that reach the decoder.
    private func decodedBytes(of texts: [String]) throws -> Int {
        let (heads, counter) = (HeadHandler(), ByteCounter())
        let channel = EmbeddedChannel()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(LastBytesHandler(heads))
        try pipeline.addHandler(counter)
        try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
        try pipeline.addHandler(heads)
        for text in texts { try channel.writeInbound(ByteBuffer(string: text)) }
        return counter.count
    }

    @Test("The bytes behind a request that asks for another protocol are not kept")
    func bytesOfOtherProtocols() throws {
        let request = "GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
        #expect(try decodedBytes(of: [request, request, request]) == request.utf8.count)
    }

    @Test("A request that has begun behind an ignored Upgrade field is read to its end")
    func bytesOfNextRequest() throws {
        let ignored = "GET / HTTP/1.1\r\nUpgrade: h2c\r\n\r\n"
        let next = "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nso"
        #expect(
            try decodedBytes(of: [ignored + next, "up", next])
                == (ignored + next + "up" + next).utf8.count
        )
    }

    @Test("A graceful shutdown answers accepted requests and accepts no more")
    func graceful() async throws {
        let (open, opener) = AsyncStream.makeStream(of: Void.self)
        let (reached, reachedSignal) = AsyncStream.makeStream(of: Void.self)
        let handler = Echo(open: open, reached: reachedSignal)
        let port = try await RunningServer.withGroup(handler) { port, group in
            let transport = AsyncHTTPClientTransport()
            async let answer = transport.send(call(port, "/wait"))
            for await _ in reached {}
            await group.triggerGracefulShutdown()
            opener.finish()
            let reply = try await answer
            #expect(reply.head.status == .ok)
            await transport.shutdown()
            return port
        }
        let transport = AsyncHTTPClientTransport()
        await #expect(throws: TransportError.self) { try await transport.send(call(port, "/")) }
        await transport.shutdown()
    }

    private func run(_ host: String, _ access: HandlerServer.Access) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let server = HandlerServer(Echo(), host: host, access: access, logger: logger) { port in
            listening.yield(port)
        }
        let group = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { listening.finish() }
                try await group.run()
            }
            if await ports.first(where: { _ in true }) != nil {
                await group.triggerGracefulShutdown()
            }
            try await tasks.waitForAll()
        }
    }

    @Test("Beyond the loopback interface a server requires an access policy to start")
    func exposed() async throws {
        for host in ["0.0.0.0", "::", "127.0.0.1.example"] {
            let error = await #expect(throws: HandlerServer.ExposedAddress.self) {
                try await run(host, .sameMachine)
            }
            #expect(error?.host == host)
        }
        // The loopback interface, in a form that is not recognized as such.
        try await run("127.1", .everybody)
        try await run("127.1", .authorized { _ in false })
    }

    @Test("Unauthorized requests never reach the handler")
    func authorized() async throws {
        let handler = AuthorizedEcho()
        try await RunningServer.with(
            handler,
            access: .authorized { $0.headerFields[.authorization] == "Bearer sesame" }
        ) { port in
            let transport = AsyncHTTPClientTransport()
            let refused = try await transport.send(call(port, "/a"))
            #expect(refused.head.status == .unauthorized)
            #expect(refused.head.headerFields[.wwwAuthenticate] == "Bearer")
            var allowed = call(port, "/b")
            allowed.head.headerFields[.authorization] = "Bearer sesame"
            #expect(try await transport.send(allowed).head.status == .ok)
            await transport.shutdown()
        }
        #expect(handler.seen == ["/b"])
    }

    @Test("Pages of allowed origins may ask an authorized server what to send, and read refusals")
    func authorizedPages() async throws {
        let page = "https://app.example.org"
        var configuration = StorageServer.Configuration()
        configuration.allowedOrigins = [page]
        let server = StorageServer(adapter: InMemoryStorageAdapter(), configuration: configuration)
        try await RunningServer.with(server, access: .authorized { _ in false }) { port in
            let transport = AsyncHTTPClientTransport()
            let path = "/v1/projects/p/databases/(default)/documents:commit"
            for origin in [page, "https://other.example.org"] {
                let isAllowed = origin == page
                var question = call(port, path, .options)
                question.head.headerFields[.origin] = origin
                question.head.headerFields[.accessControlRequestMethod] = "POST"
                question.head.headerFields[.accessControlRequestHeaders] = "authorization"
                let answer = try await transport.send(question).head
                #expect(answer.status == (isAllowed ? .noContent : .forbidden))
                let shared = isAllowed ? page : nil
                #expect(answer.headerFields[.accessControlAllowOrigin] == shared)

                var refused = call(port, path, .post)
                refused.head.headerFields[.origin] = origin
                let refusal = try await transport.send(refused).head
                #expect(refusal.status == .unauthorized)
                #expect(refusal.headerFields[.accessControlAllowOrigin] == shared)
            }
            // Only the question of a browser passes.
            let plain = try await transport.send(call(port, path, .options)).head
            #expect(plain.status == .unauthorized)
            await transport.shutdown()
        }
    }

    private final class AuthorizedEcho: ServingHandler {
        private let paths = Mutex<[String]>([])
        var seen: [String] { paths.withLock { $0 } }

        func respond(to call: HTTPCall) async -> HTTPReply {
            paths.withLock { $0.append(call.head.path ?? "") }
            return .text(.ok, "")
        }
    }
}
