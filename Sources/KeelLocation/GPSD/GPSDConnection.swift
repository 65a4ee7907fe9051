#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
#if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
import Synchronization

/// A TCP connection that is read line by line, on a thread of its own.
///
/// The thread owns the socket and the reading end of the pipe that wakes it; `stop` closes the
/// writing end. Others reach the socket only under the lock, in which the thread takes it away
/// before it closes it.
final class GPSDConnection: Sendable {
    /// How a connection has ended.
    enum End: Sendable {
        /// The other side has closed it.
        case closed
        /// It could not be made, or it broke.
        case failed(SystemError)
        /// `stop` was called.
        case stopped
    }

    /// What the system said.
    struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
        let call: String
        let text: String

        init(_ call: String, _ number: Int32 = errno) {
            self.call = call
            text = strerror(number).map { String(cString: $0) } ?? "error \(number)"
        }

        init(resolving number: Int32) {
            call = "getaddrinfo"
            text = String(cString: gai_strerror(number))
        }

        var description: String { "\(call): \(text)" }
    }

    private struct State {
        var descriptor: Int32?
        var stopper: Int32?
        var isStopped = false
        var continuation: CheckedContinuation<End, Never>?
    }

    private let host: String
    private let port: UInt16
    private let tryNumber: Int
    private let take: @Sendable (LineSplitter.Lines, GPSDConnection) -> Void
    private let state = Mutex(State())

    /// Creates a connection; nothing happens before ``run()``.
    ///
    /// - Parameters:
    ///   - host: The name or address of the host.
    ///   - port: The port.
    ///   - tryNumber: How many were tried before: a host's address that swallows everything is
    ///     not the first one each time.
    ///   - take: Takes lines as they come.
    init(
        host: String,
        port: UInt16,
        tryNumber: Int,
        _ take: @escaping @Sendable (LineSplitter.Lines, GPSDConnection) -> Void
    ) {
        self.host = host
        self.port = port
        self.tryNumber = tryNumber
        self.take = take
    }

    /// Connects and reads, once; cancelling the task stops it.
    func run() async -> End {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.continuation = continuation }
                start()
            }
        } onCancel: {
            stop()
        }
    }

    /// Ends the connection soon; from any thread, also its own.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            // Under the lock: as long as the writing end is here, the reading end is open.
            if let stopper = state.stopper.take() { Self.ring(stopper) }
        }
    }

    /// Wakes the thread up: by a byte, because a child of this process may hold the pipe too, and
    /// closing it would then tell nobody.
    private static func ring(_ stopper: Int32) {
        var byte: UInt8 = 0
        _ = write(stopper, &byte, 1)
        close(stopper)
    }

    /// Sends a short text; what cannot be sent at once is not sent.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        state.withLock { state in
            guard let descriptor = state.descriptor else { return }
            _ = POSIXSocket.send(descriptor, bytes)
        }
    }

    // MARK: The thread

    private func start() {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return finish(.failed(SystemError("pipe"))) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (wakeUp, stopper) = (ends[0], ends[1])
        let isStopped = state.withLock { state in
            if !state.isStopped { state.stopper = stopper }
            return state.isStopped
        }
        if isStopped { Self.ring(stopper) }
        let isStarted = POSIXSocket.detachThread { [self] in
            let end = connectAndRead(wakeUp)
            // In this order: whoever writes must find a reader.
            finish(end)
            close(wakeUp)
        }
        guard !isStarted else { return }
        finish(.failed(SystemError("pthread_create")))
        close(wakeUp)
    }

    private func finish(_ end: End) {
        let (continuation, stopper, isStopped) = state.withLock { state in
            (state.continuation.take(), state.stopper.take(), state.isStopped)
        }
        if let stopper { close(stopper) }
        continuation?.resume(returning: isStopped ? .stopped : end)
    }

    private func connectAndRead(_ wakeUp: Int32) -> End {
        let addresses: [POSIXSocket.Address]
        switch POSIXSocket.addresses(of: host, port) {
        case .success(let found): addresses = found
        case .failure(let error): return .failed(error)
        }
        var failure = SystemError("connect", ECONNREFUSED)
        let first = addresses.isEmpty ? 0 : tryNumber % addresses.count
        for address in addresses[first...] + addresses[..<first] {
            switch POSIXSocket.connect(to: address, orWakeBy: wakeUp) {
            case .connected(let descriptor):
                state.withLock { $0.descriptor = descriptor }
                let end = read(descriptor, wakeUp)
                state.withLock { $0.descriptor = nil }
                close(descriptor)
                return end
            case .failed(let error): failure = error
            case .woken: return .stopped
            }
        }
        return .failed(failure)
    }

    private func read(_ descriptor: Int32, _ wakeUp: Int32) -> End {
        var splitter = LineSplitter(limit: GPSDLocationAdapter.maximumLineByteCount)
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            guard POSIXSocket.wait(descriptor, Int16(POLLIN), orWakeBy: wakeUp) else {
                return .stopped
            }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return .closed }
            if count < 0 {
                if errno == EINTR || errno == EAGAIN { continue }
                return .failed(SystemError("recv"))
            }
            take(splitter.take(buffer[..<count]), self)
        }
    }
}
#endif
