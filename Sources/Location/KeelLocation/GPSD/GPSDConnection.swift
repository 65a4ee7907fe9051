#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

#if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
import Synchronization

/// A TCP connection read line by line, on its own thread.
///
/// The thread owns the socket and the read end of the pipe that wakes it; `stop` closes the write
/// end. Others use the socket under the lock, where the thread removes it before closing it.
final class GPSDConnection: Sendable {
    enum End: Sendable {
        /// The peer closed it.
        case closed
        case failed(SystemError)
        case stopped
    }

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

    typealias Resolution = Result<[POSIXSocket.Address], SystemError>

    private struct State {
        var descriptor: Int32?
        var stopper: Int32?
        var isStopped = false
        var isResolving = false
        var continuation: CheckedContinuation<End, Never>?
    }

    private let host: String
    private let port: UInt16
    private let tryNumber: Int
    private let resolve: @Sendable (String, UInt16) -> Resolution
    private let take: @Sendable (LineSplitter.Lines, GPSDConnection) -> Void
    private let state = Mutex(State())

    /// Creates a connection; the number of earlier attempts rotates the host's addresses, and `resolve` may block.
    init(
        host: String,
        port: UInt16,
        tryNumber: Int,
        resolve: @escaping @Sendable (String, UInt16) -> Resolution = {
            POSIXSocket.addresses(of: $0, $1)
        },
        _ take: @escaping @Sendable (LineSplitter.Lines, GPSDConnection) -> Void
    ) {
        self.host = host
        self.port = port
        self.tryNumber = tryNumber
        self.resolve = resolve
        self.take = take
    }

    /// Connects and reads, once; canceling the task stops it.
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

    func stop() {
        let continuation = state.withLock { state in
            state.isStopped = true
            // Under the lock: the read end is open as long as the write end is stored here.
            if let stopper = state.stopper.take() { Self.ring(stopper) }
            // The resolver cannot be interrupted: its thread ends later.
            return state.isResolving ? state.continuation.take() : nil
        }
        continuation?.resume(returning: .stopped)
    }

    /// Wakes the thread with a byte, since a child process may hold the pipe as well, and closing
    /// it would then have no effect.
    private static func ring(_ stopper: Int32) {
        var byte: UInt8 = 0
        _ = write(stopper, &byte, 1)
        close(stopper)
    }

    /// Sends a short text, if it can be sent without blocking.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        state.withLock { state in
            guard let descriptor = state.descriptor else { return }
            _ = POSIXSocket.send(descriptor, bytes)
        }
    }

    // MARK: Thread

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
            // In this order: the pipe must have a reader while others may write.
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
        guard noteResolving(true) else { return .stopped }
        let resolution = resolve(host, port)
        guard noteResolving(false) else { return .stopped }
        let addresses: [POSIXSocket.Address]
        switch resolution {
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

    /// Notes that resolving begins or ends; returns false if the connection has been stopped.
    private func noteResolving(_ isResolving: Bool) -> Bool {
        state.withLock { state in
            state.isResolving = isResolving
            return !state.isStopped
        }
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

/// Splits received bytes into lines.
///
/// A line beyond the limit is dropped as it arrives, and counted once.
struct LineSplitter {
    private let limit: Int
    private var line: [UInt8] = []
    private var isDropping = false

    init(limit: Int) { self.limit = limit }

    struct Lines: Equatable {
        /// The complete, nonempty lines without their ends.
        var lines: [[UInt8]] = []
        var oversizedCount = 0
    }

    mutating func take(_ bytes: some Sequence<UInt8>) -> Lines {
        var result = Lines()
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                if !line.isEmpty { result.lines.append(line) }
                line.removeAll(keepingCapacity: true)
                isDropping = false
            } else if !isDropping {
                if line.count == limit {
                    isDropping = true
                    line.removeAll()
                    result.oversizedCount += 1
                } else {
                    line.append(byte)
                }
            }
        }
        return result
    }
}
