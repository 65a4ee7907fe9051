import HTTPTypes
import KeelHummingbird
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@Suite("Requests whose body comes too slowly")
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

    @Test("One that brings a byte now and then is closed when the stretch is over")
    func slow() throws {
        let channel = try channel()
        try channel.writeInbound(head)
        for _ in 0..<9 {
            try channel.writeInbound(body(1))
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("Each stretch has to bring its bytes, whatever came before")
    func slowLater() throws {
        let channel = try channel()
        try channel.writeInbound(head)
        try channel.writeInbound(body(100_000))
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }

    @Test("One that is fast enough stays, for as long as it lasts")
    func fastEnough() throws {
        let channel = try channel()
        try channel.writeInbound(head)
        for _ in 0..<100 {
            try channel.writeInbound(body(50))
            channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        }
        #expect(channel.isActive)
    }

    @Test("After its end, a connection may rest between requests, and each is watched anew")
    func between() throws {
        let channel = try channel()
        try channel.writeInbound(head)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        try channel.writeInbound(head)
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }
}
