internal import Foundation
internal import Synchronization

/// The alternate screen of the terminal on standard output.
///
/// It is redrawn when its content or the size of the terminal changes.
package final class LiveScreen: Sendable {
    /// Returns the lines for a size; what does not fit is cut off.
    package typealias Content = @Sendable (TerminalSize) -> [String]

    private let content = Mutex<Content?>(nil)
    private let resizing = Mutex<SignalWatch?>(nil)

    /// Switches to the alternate screen, until ``close()``.
    package init() {
        resizing.withLock { $0 = SignalWatch(SIGWINCH) { [weak self] in self?.draw() } }
        Self.write("\u{1B}[?1049h\u{1B}[?25l")
    }

    package func show(_ new: @escaping Content) {
        content.withLock { $0 = new }
        draw()
    }

    /// Restores the previous screen.
    package func close() {
        resizing.withLock { $0 = nil }
        content.withLock { content in
            content = nil
            Self.write("\u{1B}[?25h\u{1B}[?1049l")
        }
    }

    private func draw() {
        // Under the lock, because a drawing must not be interleaved with another one.
        content.withLock { content in
            guard let content else { return }
            let size = TerminalSize(of: STDOUT_FILENO)
            let lines = content(size).prefix(size.rows).map {
                TextWidth.truncated($0, to: size.columns) + "\u{1B}[K"
            }
            Self.write("\u{1B}[H" + lines.joined(separator: "\r\n") + "\u{1B}[J")
        }
    }

    private static func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Array(text.utf8))
    }
}
