import HTTPTypes
import KeelHummingbird
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@Suite("Clients that read too slowly or disconnect")
struct SlowReaderTests {
    private func channel(_ handler: some ChannelHandler) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func body(_ count: Int) -> HTTPResponsePart {
        .body(ByteBuffer(repeating: 1, count: count))
    }

    private let request = HTTPRequestPart.head(HTTPRequest(.get, to: "localhost", "/"))

    @Test("A client that reads nothing is disconnected after the stall timeout")
    func stalled() throws {
        let channel = try channel(SlowReaderHandler(stretch: .seconds(30), leastBytes: 100))
        channel.write(body(1), promise: nil)
        #expect(channel.isActive(after: .seconds(29)))
        #expect(!channel.isActive(after: .seconds(1)))
    }

    @Test("A client that reads enough stays connected, and so does one without pending data")
    func taking() throws {
        let channel = try channel(SlowReaderHandler(stretch: .seconds(30), leastBytes: 100))
        for _ in 0..<10 {
            channel.write(body(100), promise: nil)
            channel.flush()
            channel.write(body(1), promise: nil)
            #expect(channel.isActive(after: .seconds(30)))
            channel.flush()
        }
        #expect(channel.isActive(after: .hours(1)))
    }

    @Test("A client that closes its side while waiting counts as gone after a moment")
    func gone() throws {
        let presence = ClientPresence()
        let channel = try channel(ClientPresenceHandler(presence, patience: .milliseconds(50)))
        try channel.writeInbound(request)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!presence.isOver)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(50))
        #expect(presence.isOver)
    }

    @Test("A client without a pending request does not count as gone", arguments: [true, false])
    func answered(hasAsked: Bool) throws {
        let presence = ClientPresence()
        let channel = try channel(ClientPresenceHandler(presence, patience: .milliseconds(50)))
        if hasAsked {
            try channel.writeInbound(request)
            try channel.writeInbound(HTTPRequestPart.end(nil))
        }
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        if hasAsked { try channel.writeOutbound(HTTPResponsePart.end(nil)) }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!presence.isOver)
    }
}
