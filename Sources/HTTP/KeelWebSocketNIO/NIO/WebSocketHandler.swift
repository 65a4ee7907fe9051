#if WebSocket
import KeelHTTP
import KeelWebSocket
import NIOCore
import Synchronization

/// The last handler of a connection's pipeline, which converts between bytes and messages.
///
/// Answers pings and Close frames itself, and reads from the socket only while the mailbox has
/// room. Runs on the connection's event loop.
final class WebSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    typealias Sent = OneShotResult<Void>

    private let mailbox: MessageMailbox
    private let outgoingFrameSize: Int
    private let deflateThreshold: Int
    private let deflater: Deflater?
    private var receiver: FrameReceiver
    private var closing = ClosingHandshake()
    private var random = SystemRandomNumberGenerator()

    private var context: ChannelHandlerContext?
    private var isReadPending = false
    private var isReading = false
    private var isProcessing = false
    private var needsFlush = false
    private var isFlushDue = false
    private var failure: (any Error)?

    /// The latest ping that was not answered because the socket is not writable.
    private var unansweredPing: [UInt8]?
    private var lastPing: UInt64 = 0
    private var pings: [(number: UInt64, answer: Sent)] = []
    private var closeWaiters: [Sent] = []

    init(
        _ configuration: WebSocketConfiguration,
        _ agreement: DeflateAgreement?,
        mailbox: MessageMailbox
    ) {
        self.mailbox = mailbox
        outgoingFrameSize = max(1, configuration.outgoingFrameSize ?? .max)
        deflateThreshold = configuration.deflate?.minimumSize ?? 0
        deflater = agreement.map { agreement in
            Deflater(
                windowBits: agreement.clientWindowBits,
                forgetsContext: agreement.clientNoContextTakeover,
                level: configuration.deflate?.level ?? 6
            )
        }
        let inflater = agreement.map { agreement in
            Inflater(
                windowBits: agreement.serverWindowBits,
                forgetsContext: agreement.serverNoContextTakeover,
                maximumRatio: configuration.deflate?.maximumRatio
            )
        }
        receiver = FrameReceiver(configuration, inflater: inflater)
    }

    // MARK: From the socket

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        mailbox.arrivals.add(1, ordering: .relaxed)
        // Bytes after the end of the conversation are read, to detect the close, and dropped.
        guard closing.allowsReceiving else { return }
        let buffer = unwrapInboundIn(data)
        buffer.withUnsafeReadableBytes { receiver.append($0) }
        process()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        flushIfNeeded()
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if mailbox.isFull, closing.allowsSending {
            isReadPending = true
        } else {
            isReading = true
            context.read()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, let ping = unansweredPing.take() {
            write(.pong, ping[...])
            flushIfNeeded()
        }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if failure == nil { failure = error }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        // A mailbox that is or was full has left messages unread that precede the end.
        resume()
        context.fireChannelInactive()
    }

    private func process() {
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        do throws(Violation) {
            while !mailbox.isFull || closing.sent != nil, let event = try receiver.next() {
                handle(event)
            }
        } catch {
            fail(error)
        }
    }

    private func handle(_ event: ReceivedEvent) {
        switch event {
        case .message(let message):
            // After this side has closed, the peer's Close frame must not wait for a slow reader.
            if closing.sent == nil || !mailbox.isFull { _ = mailbox.deliver(message) }
        case .ping(let payload):
            guard closing.sent == nil else { break }
            if context?.channel.isWritable ?? false {
                write(.pong, payload[...])
            } else {
                // Only the latest needs an answer (RFC 6455 section 5.5.3): a peer that pings and
                // does not read must not fill the memory.
                unansweredPing = payload
            }
        case .pong(let payload):
            guard payload.count == 8 else { break }
            let number = payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard pings.contains(where: { $0.number == number }) else { break }
            // A pong answers all earlier pings as well.
            while let ping = pings.first, ping.number <= number {
                pings.removeFirst().answer.give(.success(()))
            }
        case .close(let close):
            let wasClosedHere = closing.sent != nil
            if let answer = closing.receive(close) { write(.close, answer.payload[...]) }
            conclude(wasClosedHere ? .closedHere : .closedByPeer(close))
        }
    }

    private func fail(_ violation: Violation) {
        if let close = closing.fail(violation) { write(.close, close.payload[...]) }
        flushIfNeeded()
        conclude(.failed(violation.error))
    }

    /// Ends the conversation; the peer closes the socket.
    private func conclude(_ end: MessageMailbox.End) {
        mailbox.finish(end)
        for waiter in closeWaiters { waiter.give(.success(())) }
        closeWaiters = []
        let error = mailbox.end?.error ?? end.error
        for ping in pings { ping.answer.give(.failure(error)) }
        pings = []
    }

    /// Ends the conversation after the socket was closed.
    private func concludeLost() {
        if closing.sent != nil {
            conclude(.closedHere)
        } else {
            conclude(.failed(lostError))
        }
    }

    private var lostError: WebSocketError {
        let lost =
            failure.map { TransportError(fromSwiftNIO: $0, during: .readBody) }
            ?? TransportError(.connectionLost, phase: .readBody)
        return WebSocketError(transport: lost)
    }

    // MARK: To the socket

    /// Sends a message; `ended` is called when the socket has taken it.
    func send(_ message: WebSocketMessage, _ ended: @escaping @Sendable (Sent.Outcome) -> Void) {
        guard let context, closing.allowsSending else {
            ended(.failure(mailbox.end?.error ?? (context == nil ? lostError : .closedHere)))
            return
        }
        var buffer = ByteBuffer()
        switch message {
        case .text(var text):
            text.withUTF8 { write(.text, UnsafeRawBufferPointer($0), to: &buffer) }
        case .binary(let bytes): bytes.withUnsafeBytes { write(.binary, $0, to: &buffer) }
        }
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { [mailbox] result in
            switch result {
            case .success: ended(.success(()))
            case .failure(let error):
                let lost = TransportError(fromSwiftNIO: error, during: .send)
                ended(.failure(mailbox.end?.error ?? WebSocketError(transport: lost)))
            }
        }
        context.write(wrapOutboundOut(buffer), promise: promise)
        flushSoon(context)
    }

    /// Sends a ping; `answered` gets its result when the pong arrives.
    func ping(_ answered: Sent? = nil) {
        guard context != nil, closing.allowsSending else {
            answered?.give(.failure(mailbox.end?.error ?? .closedHere))
            return
        }
        lastPing += 1
        pings.removeAll { $0.answer.isGiven }
        if let answered { pings.append((lastPing, answered)) }
        let number = lastPing
        let payload = stride(from: 56, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: number >> UInt64($0))
        }
        write(.ping, payload[...])
        flushIfNeeded(force: true)
    }

    /// Sends a Close frame if none was sent; `answered` gets its result when the peer's arrives.
    func close(_ close: WebSocketClose, _ answered: Sent? = nil) {
        guard context != nil, closing.allowsReceiving else {
            answered?.give(.success(()))
            return
        }
        if let answered { closeWaiters.append(answered) }
        if let close = closing.close(close) { write(.close, close.payload[...]) }
        flushIfNeeded(force: true)
        resume()
    }

    /// Drops the connection, with a Close frame if one may be sent, without waiting.
    func abort(_ error: WebSocketError, _ close: WebSocketClose?) {
        mailbox.abort(error)
        if isFlushDue { context?.flush() }
        if let close, context?.channel.isWritable ?? false, let close = closing.close(close) {
            write(.close, close.payload[...])
            flushIfNeeded(force: true)
        }
        conclude(.failed(error))
        context?.close(promise: nil)
    }

    func resume() {
        process()
        flushIfNeeded(force: true)
        guard !mailbox.isFull || closing.sent != nil else { return }
        if context == nil, closing.allowsReceiving {
            concludeLost()
        } else if isReadPending {
            isReadPending = false
            context?.read()
        }
    }

    /// Flushes after the work that waits for the event loop now: the messages of that work take one system call.
    private func flushSoon(_ context: ChannelHandlerContext) {
        guard !isFlushDue else { return }
        isFlushDue = true
        context.eventLoop.assumeIsolated().execute {
            self.isFlushDue = false
            self.context?.flush()
        }
    }

    private func flushIfNeeded(force: Bool = false) {
        guard needsFlush, force || !isReading else { return }
        needsFlush = false
        context?.flush()
    }

    private func write(_ opcode: Opcode, _ payload: ArraySlice<UInt8>) {
        var buffer = ByteBuffer()
        payload.withUnsafeBytes { bytes in
            write(FrameHeader(opcode, true, false, bytes.count), bytes, to: &buffer)
        }
        context?.write(wrapOutboundOut(buffer), promise: nil)
        needsFlush = true
    }

    private func write(
        _ kind: Opcode,
        _ message: UnsafeRawBufferPointer,
        to buffer: inout ByteBuffer
    ) {
        guard let deflater, message.count >= deflateThreshold else {
            return writeFrames(kind, message, isCompressed: false, to: &buffer)
        }
        deflater.deflate(message).withUnsafeBytes { bytes in
            writeFrames(kind, bytes, isCompressed: true, to: &buffer)
        }
    }

    private func writeFrames(
        _ kind: Opcode,
        _ payload: UnsafeRawBufferPointer,
        isCompressed: Bool,
        to buffer: inout ByteBuffer
    ) {
        var start = 0
        repeat {
            let end = start + min(outgoingFrameSize, payload.count - start)
            let isFirst = start == 0
            let header = FrameHeader(
                isFirst ? kind : .continuation,
                end == payload.count,
                isCompressed && isFirst,
                end - start
            )
            write(header, UnsafeRawBufferPointer(rebasing: payload[start..<end]), to: &buffer)
            start = end
        } while start < payload.count
    }

    private func write(
        _ header: FrameHeader,
        _ payload: UnsafeRawBufferPointer,
        to buffer: inout ByteBuffer
    ) {
        let key = random.next() as UInt32
        buffer.writeWithUnsafeMutableBytes(
            minimumWritableBytes: payload.count + FrameWriter.maximumHeaderLength
        ) { FrameWriter.write(header, payload, key: key, to: $0) }
    }
}
#endif
