internal import Dispatch
internal import Foundation
internal import Synchronization

/// The keys of the terminal that is standard input.
final class TerminalInput: Sendable {
    /// What happened at the terminal.
    enum Event: Hashable, Sendable {
        case key(Key)
        /// The terminal has another size.
        case resized
        /// The terminal is gone.
        case end
    }

    /// How long a byte Escape waits for more, in milliseconds: a sequence comes at once.
    private static let patience: Int32 = 50

    private struct State {
        var parser = KeyParser()
        /// The bytes that were read and not yet taken.
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

    /// Has keys come as they are pressed, without being shown, until ``end()``.
    func begin() {
        state.withLock { state in
            var settings = termios()
            guard state.settings == nil, tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
            state.settings = settings
            let output = settings.c_oflag
            cfmakeraw(&settings)
            settings.c_oflag = output
            // What was typed ahead stays.
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        }
    }

    /// Gives the terminal back as it was.
    func end() {
        state.withLock { state in
            guard var settings = state.settings.take() else { return }
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        }
    }

    /// The next event, waited for outside the tasks' threads.
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
