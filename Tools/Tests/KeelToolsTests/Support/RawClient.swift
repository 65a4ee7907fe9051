import NIOCore
import NIOPosix

/// A connection on which a test writes what it likes.
///
/// `@unchecked`, because the iterator cannot be sent: the task that has connected is the only one that
/// uses it.
final class RawClient: @unchecked Sendable {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    /// What has come and was not forgotten.
    private(set) var received = ""

    /// Connects, and closes the connection once `body` is done.
    static func connected<Value: Sendable>(
        to port: Int,
        _ body: (RawClient) async throws -> Value
    ) async throws -> Value {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            // Thousands that connect at a time wait for each other.
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

    /// Closes this side; the other one may still send.
    func finish() { outbound.finish() }

    /// Forgets what has come.
    func forget() { received = "" }

    /// Reads until the text has come.
    ///
    /// - Returns: Whether it came before the connection ended.
    func read(until text: String) async throws -> Bool {
        while !received.contains(text) {
            guard let buffer = try await inbound.next() else { return false }
            received += String(buffer: buffer)
        }
        return true
    }

    /// Reads to the end of the connection, and returns no more than so many bytes.
    func readToEnd(upTo limit: Int = 1 << 20) async -> String {
        do {
            while received.utf8.count < limit, let buffer = try await inbound.next() {
                received += String(buffer: buffer)
            }
        } catch {
            // A connection that was reset has ended too.
        }
        return received
    }
}
