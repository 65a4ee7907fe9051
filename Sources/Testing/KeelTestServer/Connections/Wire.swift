#if TestServer
import Foundation
import KeelTestKit
import NIOCore
import NIOPosix
import NIOSSL

/// The bytes of an open connection, above TLS if there is TLS.
final class Wire: Sendable {
    private let channel: any Channel
    private let isClosed = Watched(false)

    init(_ channel: any Channel) {
        self.channel = channel
        channel.closeFuture.whenComplete { [isClosed] _ in isClosed.change { $0 = true } }
    }

    /// Writes bytes, and returns when the system has taken them.
    func write(_ bytes: some Collection<UInt8> & Sendable) async throws {
        guard !bytes.isEmpty else { return }
        // This bypasses the asynchronous writer, which may return with pending bytes that closing would drop.
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    func close() async {
        try? await channel.close().get()
    }

    /// Closes the connection below TLS.
    func cut() async {
        await channel.cut()
    }

    func reset() async {
        // With a linger time of zero, closing sends a reset.
        let options = channel as? any SocketOptionProvider
        try? await options?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        await channel.cut()
    }

    /// Returns when either side has closed the connection.
    func waitForClose() async throws {
        _ = try await isClosed.wait { $0 ? true : nil }
    }

    /// Waits until the calling task is canceled, such as by ``untilClosed(_:)``.
    func stall() async throws {
        _ = try await isClosed.wait { _ in Bool?.none }
    }

    /// Runs `work` until it or the connection ends; returns whether `work` was completed.
    func untilClosed(_ work: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        let isDone = Watched(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await work()
                    isDone.change { $0 = true }
                } catch {
                    // A failing write notices the end before the waiting task does.
                    guard !self.channel.isActive else { throw error }
                }
            }
            group.addTask { try await self.waitForClose() }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
        // The waiting task may be first although `work` is completed: it may close the connection itself.
        return isDone.value
    }
}

extension Channel {
    /// Closes the channel below the TLS handler, which would wait for the peer's close notification.
    func cut() async {
        eventLoop.execute { self.cutNow() }
        try? await closeFuture.get()
    }

    /// Performs ``cut()`` on the event loop.
    func cutNow() {
        let secure = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        if let secure {
            secure.close(promise: nil)
        } else {
            close(promise: nil)
        }
    }
}

/// The received bytes, for one task at a time.
///
/// `@unchecked` because the iterator is not Sendable: a connection is read by its own loop, or by the one task that the
/// loop waits for.
final class WireReader: @unchecked Sendable {
    private var chunks: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let note: @Sendable (Int) -> Void

    init(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        noting note: @escaping @Sendable (Int) -> Void
    ) {
        chunks = inbound.makeAsyncIterator()
        self.note = note
    }

    func next() async throws -> [UInt8]? {
        guard let chunk = try await chunks.next() else { return nil }
        note(chunk.readableBytes)
        return Array(chunk.readableBytesView)
    }
}
#endif
