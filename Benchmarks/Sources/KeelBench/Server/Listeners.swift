import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Connections that have each sent one request and stay open: event streams, or kept-alive connections.
///
/// They are raw sockets on one thread, because the listening side shares the machine with the measured servers and
/// should cost little.
final class Listeners: Sendable {
    private let channels: [any Channel]
    private let arrivals: Arrivals

    /// Opens connections one after the other, each once the previous response has begun.
    @concurrent
    init(_ count: Int, at port: Int, target: String) async throws {
        let arrivals = Arrivals()
        let bootstrap = ClientBootstrap(group: NIOSingletons.posixEventLoopGroup.next())
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ArrivalHandler(arrivals))
                }
            }
        var channels: [any Channel] = []
        for _ in 0..<count {
            let channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
            // The header that clients of server-sent events send.
            let request =
                "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                + "Accept: text/event-stream\r\n\r\n"
            let begun = arrivals.expect("\r\n\r\n", from: 1)
            try await channel.writeAndFlush(ByteBuffer(string: request))
            _ = try await begun.get()
            channels.append(channel)
        }
        self.channels = channels
        self.arrivals = arrivals
    }

    /// Returns the microseconds from before the call of `cause` until all connections have received a text.
    @concurrent
    func time(to text: String, _ cause: () async throws -> Void) async throws -> Double {
        let arrived = arrivals.expect(text, from: channels.count)
        let start = ContinuousClock.now
        try await cause()
        return start.duration(to: try await arrived.get()).microseconds
    }

    deinit {
        for channel in channels { channel.close(promise: nil) }
    }
}

/// Counts the connections at which a text has arrived.
private final class Arrivals: Sendable {
    private struct State {
        var text: [UInt8] = []
        var missing = 0
        var promise: EventLoopPromise<ContinuousClock.Instant>?
    }

    private let state = Mutex(State())

    func expect(_ text: String, from count: Int) -> EventLoopFuture<ContinuousClock.Instant> {
        let promise = NIOSingletons.posixEventLoopGroup.next()
            .makePromise(of: ContinuousClock.Instant.self)
        state.withLock { $0 = State(text: Array(text.utf8), missing: count, promise: promise) }
        return promise.futureResult
    }

    var text: [UInt8] { state.withLock { $0.text } }

    func note() {
        let promise = state.withLock { state -> EventLoopPromise<ContinuousClock.Instant>? in
            state.missing -= 1
            return state.missing == 0 ? state.promise.take() : nil
        }
        promise?.succeed(ContinuousClock.now)
    }

    /// Without this, the wait for a connection that ended early would never end.
    func fail() {
        state.withLock { $0.promise.take() }?.fail(Flaw("The server closed a connection."))
    }
}

/// Searches the received bytes for the expected text, which it finds once.
private final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let arrivals: Arrivals
    private var found: [UInt8] = []
    /// The end of the preceding bytes, in which the text may begin.
    private var rest: [UInt8] = []

    init(_ arrivals: Arrivals) { self.arrivals = arrivals }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        rest += unwrapInboundIn(data).readableBytesView
        let text = arrivals.text
        if text != found, rest.contains(text) {
            found = text
            rest = []
            arrivals.note()
        }
        rest = rest.suffix(text.count)
    }

    func channelInactive(context: ChannelHandlerContext) { arrivals.fail() }
}

extension [UInt8] {
    fileprivate func contains(_ text: [UInt8]) -> Bool {
        guard let first = text.first, count >= text.count else { return false }
        return indices.dropLast(text.count - 1).contains { start in
            self[start] == first && self[start..<(start + text.count)].elementsEqual(text)
        }
    }
}
