import HTTPTypes
import KeelHummingbird
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

extension EmbeddedChannel {
    /// Passes a part to the server, which then continues reading.
    fileprivate func bring(_ part: HTTPRequestPart) throws {
        try writeInbound(part)
        read()
    }
}

@Suite("Requests with slow bodies")
struct SlowRequestTests {
    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(
            handler: SlowRequestHandler(stretch: .seconds(10), leastBytes: 100)
        )
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private let head = HTTPRequestPart.head(
        HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/")
    )

    private func body(_ count: Int) -> HTTPRequestPart {
        .body(ByteBuffer(repeating: 1, count: count))
    }

    @Test("A client that sends a byte now and then is disconnected after the stall timeout")
    func slow() throws {
        let channel = try channel()
        try channel.bring(head)
        for _ in 0..<9 {
            try channel.bring(body(1))
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("A request of gRPC may pause, because its client listens")
    func gRPC() throws {
        let channel = try channel()
        try channel.bring(
            .head(
                HTTPRequest(
                    method: .post,
                    scheme: "http",
                    authority: "localhost",
                    path: "/",
                    headerFields: [.contentType: "application/grpc"]
                )
            )
        )
        try channel.bring(body(1))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
    }

    @Test(
        "A client that waits to be told to continue is timed from the response on",
        arguments: [HTTPResponse.Status.continue, .unauthorized]
    )
    func awaited(status: HTTPResponse.Status) throws {
        let channel = try channel()
        let head = HTTPRequest(
            method: .post,
            scheme: "http",
            authority: "localhost",
            path: "/",
            headerFields: [.expect: "100-continue"]
        )
        try channel.bring(.head(head))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: status)))
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }

    @Test("Each interval requires its bytes, whatever came before")
    func slowLater() throws {
        let channel = try channel()
        try channel.bring(head)
        try channel.bring(body(100_000))
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }

    @Test("A client that is fast enough stays connected for any duration")
    func fastEnough() throws {
        let channel = try channel()
        try channel.bring(head)
        for _ in 0..<100 {
            try channel.bring(body(50))
            channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        }
        #expect(channel.isActive)
    }

    @Test("A connection may rest between requests, and each request is timed anew")
    func between() throws {
        let channel = try channel()
        try channel.bring(head)
        try channel.bring(.end(nil))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        try channel.bring(head)
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }

    @Test("Time in which the server does not read does not count against the client")
    func paused() throws {
        let channel = try channel()
        try channel.bring(head)
        try channel.writeInbound(body(1))
        for _ in 0..<10 { channel.embeddedEventLoop.advanceTime(by: .seconds(10)) }
        #expect(channel.isActive)
        channel.read()
        channel.embeddedEventLoop.advanceTime(by: .seconds(20))
        #expect(!channel.isActive)
    }
}
