internal import HTTPTypes
package import NIOCore
package import NIOHTTPTypes
import Synchronization

/// Ends the work for the client of a connection when the client goes.
package final class ClientPresence: Sendable {
    private struct State {
        var isOver = false
        var work: Work?
    }

    /// A task at work, which others may cancel while it lives.
    ///
    /// `@unchecked`, because `cancel` is for every thread, and the reference is let go under the lock
    /// before the task's work returns.
    private struct Work: @unchecked Sendable {
        let task: UnsafeCurrentTask
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether the client has gone, or the connection has ended.
    package var isOver: Bool { state.withLock { $0.isOver } }

    /// Cancels the current task once the client has gone, until ``endWork()``.
    ///
    /// A task of its own for the work would cost each connection 3 KiB.
    package func beginWork() {
        guard let work = withUnsafeCurrentTask(body: { $0.map(Work.init) }) else { return }
        state.withLock { state in
            if state.isOver { work.task.cancel() } else { state.work = work }
        }
    }

    /// Lets go of the task that ``beginWork()`` was called in, which has to live until then.
    package func endWork() { state.withLock { $0.work = nil } }

    /// Notes that there is nobody to answer any more.
    package func end() {
        state.withLock { state in
            state.isOver = true
            // Under the lock, so that the task is not over yet.
            state.work?.task.cancel()
            state.work = nil
        }
    }
}

/// Notices that a client goes while it is being answered.
///
/// A client that closes its side of the connection is taken to have gone once `patience` has passed:
/// nothing tells it from one that still listens, and such clients, `nc` for one, are answered at once
/// or not at all. Go's server does the same.
package final class ClientPresenceHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let presence: ClientPresence
    private let patience: TimeAmount
    private let mostUnreadBytes: Int
    /// How many requests have come whose answers are not complete.
    private var open = 0
    private var unreadBytes = 0

    /// Creates a handler of one connection.
    ///
    /// - Parameters:
    ///   - presence: What is told.
    ///   - patience: How long a client may still listen that has closed its side.
    ///   - mostUnreadBytes: The most bytes of a body that are passed over after its request has been
    ///     answered; a client that sends more is cut off.
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
