import NIOCore
import NIOPosix

/// A connection on which a test writes what it likes.
///
/// `@unchecked`, because the iterator cannot be sent: the task that has connected is the only one that
/// uses it.
final class RawClient: @unchecked Sendable {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    /// The received bytes since the last ``forget()``.
    private(set) var received = ""

    /// Connects, and closes the connection after `body`.
    static func connected<Value: Sendable>(
        to port: Int,
        _ body: (RawClient) async throws -> Value
    ) async throws -> Value {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            // Thousands of simultaneous connections wait for each other.
            .connectTimeout(.minutes(2))
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true)
                    )
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await body(RawClient(inbound: inbound.makeAsyncIterator(), outbound: outbound))
        }
    }

    init(
        inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.inbound = inbound
        self.outbound = outbound
    }

    func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

    func send(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

    /// Closes this side of the connection; the other may still send.
    func finish() { outbound.finish() }

    /// Discards the received bytes.
    func forget() { received = "" }

    /// Reads until a text has arrived; returns whether it arrived before the connection ended.
    func read(until text: String) async throws -> Bool {
        while !received.contains(text) {
            guard let buffer = try await inbound.next() else { return false }
            received += String(buffer: buffer)
        }
        return true
    }

    /// Reads to the end of the connection, and returns up to a number of bytes.
    func readToEnd(upTo limit: Int = 1 << 20) async -> String {
        do {
            while received.utf8.count < limit, let buffer = try await inbound.next() {
                received += String(buffer: buffer)
            }
        } catch {
            // A reset connection has ended too.
        }
        return received
    }
}
