#if WebSocket
import KeelCore
import KeelWebSocket
import NIOCore
import Synchronization

final class NIOWebSocketChannel: WebSocketChannel {
    let handshake: WebSocketHandshake

    private let channel: any Channel
    private let handler: NIOLoopBound<WebSocketHandler>
    private let mailbox: MessageMailbox
    private let backlog: SendBacklog
    private let configuration: WebSocketConfiguration
    private let clock: any Clock<Duration>
    /// The error of later sends, which the mailbox may not know yet: this side has closed, or a message was not sent.
    private let sendEnd = Mutex<WebSocketError?>(nil)

    init(
        _ channel: any Channel,
        _ handler: WebSocketHandler,
        _ mailbox: MessageMailbox,
        _ handshake: WebSocketHandshake,
        _ configuration: WebSocketConfiguration,
        _ clock: any Clock<Duration>
    ) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.mailbox = mailbox
        backlog = SendBacklog(limit: configuration.sendBufferSize)
        self.handshake = handshake
        self.configuration = configuration
        self.clock = clock
    }

    var peerClose: WebSocketClose? {
        guard case .closedByPeer(let close)? = mailbox.end else { return nil }
        return close
    }

    // MARK: Calls of the app

    func send(_ message: WebSocketMessage) async throws(WebSocketError) {
        guard !Task.isCancelled else { throw WebSocketError(.cancelled) }
        if let error = mailbox.end?.error ?? sendEnd.withLock({ $0 }) { throw error }
        let count = message.byteCount
        guard backlog.enter(count) else {
            let sent = OneShotResult<Void>()
            onLoop { [self] handler in
                handler.send(message) { [self] outcome in
                    sendEnded(outcome, count)
                    sent.give(outcome)
                }
            }
            return try await sent.wait().get()
        }
        // Waiting would cost a change of threads. The next call reports any failure.
        onLoop { [self] handler in
            handler.send(message) { [self] outcome in sendEnded(outcome, count) }
        }
    }

    private func sendEnded(_ outcome: Result<Void, WebSocketError>, _ count: Int) {
        backlog.leave(count)
        if case .failure(let error) = outcome { refuseSends(error) }
    }

    private func refuseSends(_ error: WebSocketError) { sendEnd.withLock { $0 = $0 ?? error } }

    func receive() async throws(WebSocketError) -> WebSocketMessage? {
        switch mailbox.take() {
        case .outcome(let outcome): return try outcome.get()
        case .lastStraw(let message):
            onLoop { $0.resume() }
            return message
        case .waiting(let reader): return try await reader.wait().get()
        }
    }

    func ping() async throws(WebSocketError) -> Duration {
        let answered = OneShotResult<Void>()
        let elapsed = stopwatch(on: clock)
        onLoop { $0.ping(answered) }
        try await answered.wait(
            upTo: configuration.pongTimeout,
            on: clock,
            else: WebSocketError(.pongTimeout)
        ).get()
        return elapsed()
    }

    func close(_ close: WebSocketClose) async throws(WebSocketError) {
        refuseSends(.closedHere)
        let answered = OneShotResult<Void>()
        onLoop { $0.close(close, answered) }
        let outcome = await answered.wait(
            upTo: configuration.closeTimeout,
            on: clock,
            else: WebSocketError(.closed)
        )
        guard case .failure(let error) = outcome else {
            // Cancellation drops the connection, and the loop may then have nothing left to close.
            if let error = mailbox.end?.error, error.code == .cancelled { throw error }
            return
        }
        if error.code == .cancelled { throw error }
        // Here as well as on the loop, because the next call must find the end.
        mailbox.abort(.closedHere)
        onLoop { $0.abort(.closedHere, nil) }
    }

    // MARK: Lifetime

    /// Pings the peer at intervals, and drops a silent connection; ends with its task.
    func watch() async {
        guard let interval = configuration.pingInterval else { return }
        let patience = configuration.pongTimeout
        var pause = interval
        while (try? await clock.sleep(for: pause)) != nil, mailbox.end == nil {
            let arrivals = mailbox.arrivals.load(ordering: .relaxed)
            onLoop { $0.ping() }
            guard (try? await clock.sleep(for: patience)) != nil else { return }
            if mailbox.arrivals.load(ordering: .relaxed) == arrivals, !mailbox.isFull,
                mailbox.end == nil
            {
                onLoop { $0.abort(WebSocketError(.pongTimeout), nil) }
                return
            }
            pause = max(.zero, interval - patience)
        }
    }

    func shutdown(_ close: WebSocketClose) async {
        refuseSends(.closedHere)
        let hungUp = OneShotResult<Void>()
        channel.closeFuture.whenComplete { _ in hungUp.give(.success(())) }
        onLoop { $0.close(close) }
        // The server closes the socket first, so that its side is in TIME_WAIT (RFC 6455 section 7.1.1).
        _ = await hungUp.wait(
            upTo: configuration.closeTimeout,
            on: clock,
            else: WebSocketError(.closed)
        )
        channel.close(promise: nil)
    }

    /// Drops the connection; every waiting call ends with `error`.
    func abort(_ error: WebSocketError) {
        // Here as well as on the loop, because the reader must not find another message.
        mailbox.abort(error)
        onLoop { $0.abort(error, WebSocketClose(.goingAway)) }
    }

    private func onLoop(_ body: @escaping @Sendable (WebSocketHandler) -> Void) {
        channel.eventLoop.execute { [handler] in body(handler.value) }
    }
}

/// The bytes given to the event loop that the socket has not taken yet.
final class SendBacklog: Sendable {
    private let limit: Int
    private let bytes = Atomic<Int>(0)

    /// The overhead per message, which bounds the number of empty messages.
    private static let overhead = 64

    /// Creates an empty backlog; `limit` is the number of pending bytes above which senders wait.
    init(limit: Int) { self.limit = limit }

    /// Adds a message; returns whether the sender may continue without waiting.
    func enter(_ count: Int) -> Bool {
        let all = bytes.add(count + Self.overhead, ordering: .relaxed).newValue
        return all <= limit
    }

    func leave(_ count: Int) { bytes.subtract(count + Self.overhead, ordering: .relaxed) }
}
#endif
