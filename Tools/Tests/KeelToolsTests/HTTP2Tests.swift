import HTTPTypes
import KeelHTTP
import KeelHummingbird
import KeelServing
import NIOCore
import NIOEmbedded
import NIOHTTP2
import NIOHTTPTypes
import Testing

@Suite("HTTP/2 on the port of HTTP/1.1", .timeLimit(.minutes(10)))
struct HTTP2Tests {
    /// Answers a request by its path.
    private struct Origin: ServingHandler {
        let canceled = AsyncStream.makeStream(of: Void.self)

        func respond(to call: HTTPCall) async -> HTTPReply {
            switch call.head.path {
            // Sends back each piece as it arrives.
            case "/echo":
                guard let body = try? await call.body?.open() else { return .text(.badRequest, "") }
                let trailers: HTTPFields = [.eTag: "end"]
                return HTTPReply(
                    head: HTTPResponse(status: .ok),
                    body: HTTPByteStream(trailers: { trailers }) {
                        () async throws(TransportError) in
                        var iterator = body.makeAsyncIterator()
                        return try await iterator.next()
                    }
                )
            case "/forever":
                return HTTPReply(
                    head: HTTPResponse(status: .ok),
                    body: HTTPByteStream { () async throws(TransportError) in
                        try? await Task.sleep(for: .seconds(3_600))
                        canceled.continuation.yield()
                        throw TransportError(.cancelled)
                    }
                )
            case "/body": return .text(.ok, "\(call.body == nil ? "no" : "a") body")
            case "/count":
                let bytes = try? await call.body?.open().collect(upTo: 100)
                return .text(.ok, "read \(bytes?.count ?? 0)")
            case "/hint":
                call.onInterimResponse?(
                    HTTPResponse(
                        status: .init(code: 103),
                        headerFields: [.eTag: "hint", .connection: "close"]
                    )
                )
                return .text(.ok, "done")
            default: return .text(.contentTooLarge, "refused")
            }
        }
    }

    /// Reads a whole response.
    private static func response(
        _ inbound: HTTP2Client.Response
    ) async throws -> (status: Int, text: String, trailers: HTTPFields?) {
        var response: (status: Int, text: String, trailers: HTTPFields?) = (0, "", nil)
        while let part = try await inbound.next() {
            switch part {
            case .head(let head): response.status = head.status.code
            case .body(let piece): response.text += String(buffer: piece)
            case .end(let trailers):
                response.trailers = trailers
                return response
            }
        }
        Issue.record("The response has no end.")
        return response
    }

    @Test("one port answers both protocols")
    func bothProtocols() async throws {
        try await RunningServer.with(Origin()) { port in
            try await HTTP2Client.connected(to: port) { client in
                for (method, text) in [(HTTPRequest.Method.get, "no body"), (.post, "a body")] {
                    let response = try await client.stream { inbound, outbound in
                        try await outbound.write(HTTP2Client.head(method, "/body"))
                        try await outbound.write(.end(nil))
                        return try await Self.response(inbound)
                    }
                    #expect(response.status == 200)
                    #expect(response.text == text)
                }
            }
            try await RawClient.connected(to: port) { client in
                // One byte at a time, with the first of the other protocol's preface.
                for byte in "POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"
                    .utf8
                {
                    try await client.send([byte])
                }
                #expect(try await client.read(until: "a body"))
            }
        }
    }

    @Test("a response and its request go on at the same time")
    func bothDirections() async throws {
        try await RunningServer.with(Origin()) { port in
            try await HTTP2Client.connected(to: port) { client in
                try await client.stream { inbound, outbound in
                    try await outbound.write(HTTP2Client.head(.post, "/echo"))
                    for text in ["one", "two", "three"] {
                        try await outbound.write(.body(ByteBuffer(string: text)))
                        var found = ""
                        while found != text, let part = try await inbound.next() {
                            if case .body(let piece) = part { found += String(buffer: piece) }
                        }
                        #expect(found == text)
                    }
                    try await outbound.write(.end(nil))
                    let end = try await Self.response(inbound)
                    #expect(end.trailers == [.eTag: "end"])
                }
            }
        }
    }

    @Test("a client that resets a stream cancels its work")
    func reset() async throws {
        let origin = Origin()
        try await RunningServer.with(origin) { port in
            try await HTTP2Client.connected(to: port) { client in
                try await client.stream { inbound, outbound in
                    try await outbound.write(HTTP2Client.head(.post, "/forever"))
                    guard case .head? = try await inbound.next() else {
                        Issue.record("The server did not respond.")
                        return
                    }
                }
                for await _ in origin.canceled.stream { break }
                // The connection goes on.
                let response = try await client.stream { inbound, outbound in
                    try await outbound.write(HTTP2Client.head(.get, "/body"))
                    try await outbound.write(.end(nil))
                    return try await Self.response(inbound)
                }
                #expect(response.status == 200)
            }
        }
    }

    @Test("a response before the end of the request arrives, and ends the stream")
    func early() async throws {
        try await RunningServer.with(Origin()) { port in
            try await HTTP2Client.connected(to: port) { client in
                for _ in 0..<20 {
                    let response = try await client.stream { inbound, outbound in
                        // At once, because after the head alone the server may close the stream.
                        try await outbound.write(
                            contentsOf: [
                                HTTP2Client.head(.post, "/early"),
                                .body(ByteBuffer(string: "unread")),
                            ]
                        )
                        let response = try await Self.response(inbound)
                        // The server has closed the stream, but not for an error.
                        let end = await #expect(throws: NIOHTTP2Errors.StreamClosed.self) {
                            _ = try await inbound.next()
                        }
                        #expect(end?.errorCode == .noError)
                        return response
                    }
                    #expect(response.status == 413)
                    #expect(response.text == "refused")
                }
            }
        }
    }

    @Test("a client that expects it is told to continue when its body is read, and only then")
    func expectation() async throws {
        let fields: HTTPFields = [.expect: "100-continue"]
        try await RunningServer.with(Origin()) { port in
            try await HTTP2Client.connected(to: port) { client in
                let read = try await client.stream { inbound, outbound in
                    try await outbound.write(HTTP2Client.head(.post, "/count", fields))
                    guard case .head(let head)? = try await inbound.next() else {
                        Issue.record("The server did not respond.")
                        return ""
                    }
                    #expect(head.status == .continue)
                    try await outbound.write(.body(ByteBuffer(string: "hello")))
                    try await outbound.write(.end(nil))
                    return try await Self.response(inbound).text
                }
                #expect(read == "read 5")
                let refused = try await client.stream { inbound, outbound in
                    try await outbound.write(HTTP2Client.head(.post, "/early", fields))
                    guard case .head(let head)? = try await inbound.next() else {
                        Issue.record("The server did not respond.")
                        return ""
                    }
                    #expect(head.status == .contentTooLarge)
                    let text = try await Self.response(inbound).text
                    // The server closes the stream.
                    _ = try? await inbound.next()
                    return text
                }
                #expect(refused == "refused")
            }
        }
    }

    @Test("interim responses of the handler come before its response")
    func interim() async throws {
        try await RunningServer.with(Origin()) { port in
            try await HTTP2Client.connected(to: port) { client in
                let response = try await client.stream { inbound, outbound in
                    try await outbound.write(HTTP2Client.head(.get, "/hint"))
                    try await outbound.write(.end(nil))
                    if case .head(let hint)? = try await inbound.next() {
                        #expect(hint.status.code == 103)
                        #expect(hint.headerFields == [.eTag: "hint"])
                    } else {
                        Issue.record("There is no hint.")
                    }
                    return try await Self.response(inbound)
                }
                #expect(response.status == 200 && response.text == "done")
            }
        }
    }

    /// Tells a test which of its pings the server has answered.
    private final class PingAnswers: ChannelInboundHandler, Sendable {
        typealias InboundIn = HTTP2Frame

        private let (answers, answered) = AsyncStream.makeStream(of: UInt64.self)

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .ping(let ping, ack: true) = unwrapInboundIn(data).payload else { return }
            answered.yield(ping.integer)
        }

        func channelInactive(context: ChannelHandlerContext) { answered.finish() }

        /// Waits for an answer; nil if the connection ends.
        func next() async -> UInt64? { await answers.first { _ in true } }
    }

    @Test("while its stream is in use, a client may ping more often than Hummingbird allows")
    func pings() async throws {
        try await RunningServer.with(Origin()) { port in
            try await HTTP2Client.connected(to: port) { client in
                let answers = PingAnswers()
                try await client.channel.pipeline.addHandler(answers).get()
                try await client.stream { inbound, outbound in
                    try await outbound.write(HTTP2Client.head(.post, "/echo"))
                    for number in UInt64(1)...10 {
                        let data = HTTP2PingData(withInteger: number)
                        try await client.channel.writeAndFlush(
                            HTTP2Frame(streamID: .rootStream, payload: .ping(data, ack: false))
                        )
                        let answer = await answers.next()
                        #expect(answer == number)
                        try await outbound.write(.body(ByteBuffer(string: "x")))
                        var found = ""
                        while found.isEmpty, let part = try await inbound.next() {
                            if case .body(let piece) = part { found += String(buffer: piece) }
                        }
                        #expect(found == "x")
                    }
                    try await outbound.write(.end(nil))
                    let end = try await Self.response(inbound)
                    #expect(end.trailers == [.eTag: "end"])
                }
            }
        }
    }

    @Test("a graceful shutdown does not wait for idle connections")
    func shutdown() async throws {
        let client = try await RunningServer.with(Origin()) { port in
            let connected = AsyncStream.makeStream(of: Void.self)
            let client = Task {
                try await HTTP2Client.connected(to: port) { client in
                    connected.continuation.yield()
                    try await client.channel.closeFuture.get()
                }
            }
            for await _ in connected.stream { break }
            return client
        }
        try await client.value
    }
}

@Suite("Pings over HTTP/2")
struct HTTP2PingTests {
    private let ping = HTTP2Frame(
        streamID: .rootStream,
        payload: .ping(HTTP2PingData(withInteger: 7), ack: false)
    )

    private func channel(_ handler: HTTP2ConnectionHandler) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    @Test("pings may come every ten seconds, for as long as the client likes")
    func rare() throws {
        let channel = try channel(HTTP2ConnectionHandler(idleTimeout: .hours(5)))
        for _ in 0..<1_000 {
            try channel.writeInbound(ping)
            channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        }
        #expect(channel.isActive)
        // Other handlers would count them.
        #expect(try channel.readInbound(as: HTTP2Frame.self) == nil)
    }

    @Test("pings that measure a connection in use are allowed")
    func measuring() throws {
        let handler = HTTP2ConnectionHandler()
        let channel = try channel(handler)
        for _ in 0..<100 {
            try channel.writeInbound(ping)
            channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
            handler.hasSent()
        }
        #expect(channel.isActive)
    }

    @Test("a client that pings without pause is told so and disconnected")
    func tooMany() throws {
        let channel = try channel(HTTP2ConnectionHandler())
        for _ in 0..<3 { try channel.writeInbound(ping) }
        #expect(channel.isActive)
        try channel.writeInbound(ping)
        #expect(!channel.isActive)
        let frame = try channel.readOutbound(as: HTTP2Frame.self)
        guard case .goAway(_, .enhanceYourCalm, _)? = frame?.payload else {
            Issue.record("The client is not told.")
            return
        }
    }

    @Test("a connection without streams ends")
    func idle() throws {
        let channel = try channel(HTTP2ConnectionHandler(idleTimeout: .seconds(60)))
        #expect(channel.isActive(after: .seconds(59)))
        #expect(!channel.isActive(after: .seconds(1)))
    }
}
