internal import Foundation
internal import Synchronization

/// A line on standard error that shows the progress of long work.
///
/// The line shows the completed amount and the rate, and, if the total is known, the share, a bar and the remaining
/// time. It is drawn only if standard error is a terminal, at most ten times per second, and never wider than the
/// terminal. SIGINT and SIGTERM remove the line before they end the process.
///
/// Several tasks may update the line at the same time.
package final class ProgressLine: Sendable {
    private struct State {
        var total: Int?
        var rate = ProgressRate()
        var lastDrawn: ContinuousClock.Instant?
        /// The number of columns of the line on the screen.
        var width = 0
    }

    private let unit: ProgressText.Unit
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// The signals that remove the line.
    private let caught: [Int32]

    /// Whether the line is drawn.
    package let isDrawn: Bool

    /// Creates a line, which appears with the first update.
    ///
    /// - Parameters:
    ///   - total: The amount of work; nil if it is unknown.
    ///   - unit: The unit of the amounts.
    ///   - isQuiet: Whether the line is not drawn even on a terminal.
    package init(total: Int? = nil, unit: ProgressText.Unit, isQuiet: Bool = false) {
        self.unit = unit
        state = Mutex(State(total: total))
        isDrawn = !isQuiet && isatty(STDERR_FILENO) == 1
        caught = isDrawn ? Self.catchSignals() : []
    }

    /// Draws the completed amount, unless the line was drawn less than a tenth of a second ago.
    ///
    /// - Parameters:
    ///   - done: The completed amount. The first value counts as completed before this run.
    ///   - total: The new total, if it has become known.
    ///   - note: The text beside the numbers.
    package func update(done: Int, total: Int? = nil, note: @autoclosure () -> String? = nil) {
        guard isDrawn else { return }
        state.withLock { state in
            if let total { state.total = total }
            let now = ContinuousClock.now
            if let last = state.lastDrawn, now - last < .milliseconds(100) { return }
            state.lastDrawn = now
            let text = ProgressText(
                unit: unit,
                done: done,
                total: state.total,
                rate: state.rate.note(done, at: (now - start) / .seconds(1)),
                note: note()
            )
            let columns = TerminalSize(of: STDERR_FILENO).columns
            // The last column stays free, because some terminals wrap once it is filled.
            let line = text.line(width: max(1, columns - 1))
            Self.write(Self.clearing(state.width, columns) + line)
            state.width = TextWidth.of(line)
        }
    }

    /// Removes the line while a message is written.
    package func clear() {
        guard isDrawn else { return }
        state.withLock { state in
            guard state.lastDrawn != nil else { return }
            state.lastDrawn = nil
            Self.write(Self.clearing(state.width, TerminalSize(of: STDERR_FILENO).columns))
            state.width = 0
        }
    }

    /// Removes the line, and restores the handling of signals.
    package func finish() {
        guard isDrawn else { return }
        clear()
        for number in caught { signal(number, SIG_DFL) }
    }

    // MARK: The terminal

    /// Returns the control sequence that removes a line of a width.
    private static func clearing(_ width: Int, _ columns: Int) -> String {
        // A terminal that became narrower has wrapped the line.
        let above = max(0, width - 1) / columns
        return above > 0 ? "\r\u{1B}[\(above)A\u{1B}[J" : "\r\u{1B}[K"
    }

    private static func write(_ text: String) {
        // The work continues even if its progress cannot be shown.
        try? FileHandle.standardError.write(contentsOf: Array(text.utf8))
    }

    /// Makes signals without another handler remove the line before they end the process.
    ///
    /// - Returns: These signals.
    private static func catchSignals() -> [Int32] {
        [SIGINT, SIGTERM].filter { number in
            let previous = signal(number) { number in
                let clear: StaticString = "\r\u{1B}[K"
                // Signal handlers may call only a few functions, such as write, signal and raise.
                _ = Foundation.write(STDERR_FILENO, clear.utf8Start, clear.utf8CodeUnitCount)
                signal(number, SIG_DFL)
                raise(number)
            }
            if let previous { signal(number, previous) }
            return previous == nil
        }
    }
}
