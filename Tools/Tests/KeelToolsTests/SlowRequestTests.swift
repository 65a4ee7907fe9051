import HTTPTypes
import KeelHummingbird
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

extension EmbeddedChannel {
    /// Moves the time on, and returns whether the connection is still open.
    func isActive(after time: TimeAmount) -> Bool {
        embeddedEventLoop.advanceTime(by: time)
        return isActive
    }

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

    private let head = HTTPRequestPart.head(HTTPRequest(.post, to: "localhost", "/"))

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
        #expect(!channel.isActive(after: .seconds(1)))
    }

    @Test("A request of gRPC may pause, because its client listens")
    func gRPC() throws {
        let channel = try channel()
        try channel.bring(
            .head(HTTPRequest(.post, to: "localhost", "/", [.contentType: "application/grpc"]))
        )
        try channel.bring(body(1))
        #expect(channel.isActive(after: .hours(1)))
    }

    @Test(
        "A client that waits to be told to continue is timed from the response on",
        arguments: [HTTPResponse.Status.continue, .unauthorized]
    )
    func awaited(status: HTTPResponse.Status) throws {
        let channel = try channel()
        let head = HTTPRequest(.post, to: "localhost", "/", [.expect: "100-continue"])
        try channel.bring(.head(head))
        #expect(channel.isActive(after: .hours(1)))
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: status)))
        #expect(!channel.isActive(after: .seconds(10)))
    }

    @Test("Each interval requires its bytes, whatever came before")
    func slowLater() throws {
        let channel = try channel()
        try channel.bring(head)
        try channel.bring(body(100_000))
        #expect(channel.isActive(after: .seconds(10)))
        #expect(!channel.isActive(after: .seconds(10)))
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
        #expect(channel.isActive(after: .hours(1)))
        try channel.bring(head)
        #expect(!channel.isActive(after: .seconds(10)))
    }

    @Test("Time in which the server does not read does not count against the client")
    func paused() throws {
        let channel = try channel()
        try channel.bring(head)
        try channel.writeInbound(body(1))
        for _ in 0..<10 { channel.embeddedEventLoop.advanceTime(by: .seconds(10)) }
        #expect(channel.isActive)
        channel.read()
        #expect(!channel.isActive(after: .seconds(20)))
    }
}
