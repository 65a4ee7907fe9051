internal import HTTPTypes
package import NIOCore
package import NIOHTTPTypes
import Synchronization

/// Cancels the work for a client that disconnects.
package final class ClientPresence: Sendable {
    private struct State {
        var isOver = false
        var work: Work?
    }

    /// A running task that other threads may cancel.
    ///
    /// `@unchecked`, because `cancel` may be called on any thread, and the reference is cleared under the lock before
    /// the work returns.
    private struct Work: @unchecked Sendable {
        let task: UnsafeCurrentTask
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether the client has disconnected.
    package var isOver: Bool { state.withLock { $0.isOver } }

    /// Makes a disconnection cancel the current task, until ``endWork()``.
    package func beginWork() {
        guard let work = withUnsafeCurrentTask(body: { $0.map(Work.init) }) else { return }
        state.withLock { state in
            if state.isOver { work.task.cancel() } else { state.work = work }
        }
    }

    /// Releases the task that called ``beginWork()``, which must still be running.
    package func endWork() { state.withLock { $0.work = nil } }

    /// Records that the client has disconnected, and cancels the work.
    package func end() {
        state.withLock { state in
            state.isOver = true
            // Under the lock, so that the task is still running.
            state.work?.task.cancel()
            state.work = nil
        }
    }
}

/// Detects that a client disconnects before it has its response.
///
/// A client that closes its side of the connection counts as disconnected after `patience`, because one that has only
/// finished sending, such as `nc`, cannot be distinguished.
package final class ClientPresenceHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let presence: ClientPresence
    private let patience: TimeAmount
    private let mostUnreadBytes: Int
    /// The number of requests without a complete response.
    private var open = 0
    private var unreadBytes = 0

    /// Creates a handler for one connection.
    ///
    /// - Parameters:
    ///   - presence: The presence to end.
    ///   - patience: The time for which a client that has closed its side still counts as connected.
    ///   - mostUnreadBytes: The maximum number of bytes of a body to discard after the response; the connection of a
    ///     client that sends more is closed.
    package init(
        _ presence: ClientPresence,
        patience: TimeAmount = .milliseconds(50),
        mostUnreadBytes: Int = 16 << 20
    ) {
        self.presence = presence
        self.patience = patience
        self.mostUnreadBytes = mostUnreadBytes
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: open += 1
        case .body(let piece) where open == 0:
            unreadBytes += piece.readableBytes
            guard unreadBytes <= mostUnreadBytes else { return context.close(promise: nil) }
        case .body: break
        case .end: unreadBytes = 0
        }
        context.fireChannelRead(data)
    }

    package func write(
        context: ChannelHandlerContext,
        data: NIOAny,
        promise: EventLoopPromise<Void>?
    ) {
        if case .end = unwrapOutboundIn(data) { open -= 1 }
        context.write(data, promise: promise)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed, open > 0 {
            _ = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { [self] in
                if open > 0 { presence.end() }
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        presence.end()
        context.fireChannelInactive()
    }
}
