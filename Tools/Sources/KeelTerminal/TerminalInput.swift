internal import Dispatch
internal import Foundation
internal import Synchronization

/// Reads the keys of a terminal on standard input.
final class TerminalInput: Sendable {
    enum Event: Hashable, Sendable {
        case key(Key)
        case resized
        /// The terminal has been closed.
        case end
    }

    /// The time to wait for further bytes after Escape, in milliseconds; the bytes of a sequence arrive together.
    private static let patience: Int32 = 50

    private struct State {
        var parser = KeyParser()
        /// The bytes that were read but not yet parsed.
        var bytes: ArraySlice<UInt8> = []
        var settings: termios?
    }

    private let state = Mutex(State())
    private let wake = Pipe()
    private let resizing: SignalWatch

    init() {
        let writing = wake.fileHandleForWriting
        resizing = SignalWatch(SIGWINCH) { try? writing.write(contentsOf: [0]) }
    }

    /// Makes the terminal pass on each key, without echo, until ``end()``.
    func begin() {
        state.withLock { state in
            var settings = termios()
            guard state.settings == nil, tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
            state.settings = settings
            let output = settings.c_oflag
            cfmakeraw(&settings)
            settings.c_oflag = output
            // Keys that were typed ahead are kept.
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        }
    }

    func end() {
        state.withLock { state in
            guard var settings = state.settings.take() else { return }
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        }
    }

    /// Returns the next event, without blocking a thread that runs tasks.
    func next() async -> Event {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.wait()) }
        }
    }

    private func wait() -> Event {
        while true {
            if let key = state.withLock({ Self.nextKey(&$0) }) { return .key(key) }
            let isUndecided = state.withLock { $0.parser.isUndecided }
            var events = [
                pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
                pollfd(
                    fd: wake.fileHandleForReading.fileDescriptor,
                    events: Int16(POLLIN),
                    revents: 0
                ),
            ]
            let count = poll(&events, 2, isUndecided ? Self.patience : -1)
            if count == 0, let key = state.withLock({ $0.parser.end() }) { return .key(key) }
            guard count > 0 else { continue }
            var bytes = [UInt8](repeating: 0, count: 4096)
            if events[1].revents != 0 {
                _ = read(events[1].fd, &bytes, bytes.count)
                return .resized
            }
            let got = read(STDIN_FILENO, &bytes, bytes.count)
            if got < 0, errno == EINTR || errno == EAGAIN { continue }
            guard got > 0 else { return .end }
            state.withLock { $0.bytes += bytes[..<got] }
        }
    }

    private static func nextKey(_ state: inout State) -> Key? {
        while let byte = state.bytes.popFirst() {
            if let key = state.parser.key(byte) { return key }
        }
        return nil
    }
}
