internal import Foundation
internal import Synchronization

/// One line on standard error that says how far long work has come.
///
/// It shows what is done, the rate, and, where the total is known, the share, a bar and the time
/// left. It is drawn only where standard error is a terminal, at most ten times a second, and never
/// wider than the terminal is at that moment. SIGINT and SIGTERM remove it before they end the
/// process.
///
/// Tasks that run at the same time may update it.
package final class ProgressLine: Sendable {
    private struct State {
        var total: Int?
        var rate = ProgressRate()
        var lastDrawn: ContinuousClock.Instant?
        /// The columns of what is on the screen.
        var width = 0
    }

    private let unit: ProgressText.Unit
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// The signals that remove the line.
    private let caught: [Int32]

    /// Whether somebody looks on.
    package let isDrawn: Bool

    /// Creates a line, which appears with the first update.
    ///
    /// - Parameters:
    ///   - total: The amount of work; nil if it is unknown.
    ///   - unit: What is counted.
    ///   - isQuiet: Whether nothing is drawn, whatever standard error is.
    package init(total: Int? = nil, unit: ProgressText.Unit, isQuiet: Bool = false) {
        self.unit = unit
        state = Mutex(State(total: total))
        isDrawn = !isQuiet && isatty(STDERR_FILENO) == 1
        caught = isDrawn ? Self.catchSignals() : []
    }

    /// Draws how much is done, unless it did so a moment ago.
    ///
    /// - Parameters:
    ///   - done: What is done altogether. The first value counts as done before this run.
    ///   - total: A new total, where it has become known.
    ///   - note: What stands beside the numbers.
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
            // The last column stays free: some terminals go on to the next line once it is filled.
            let line = text.line(width: max(1, columns - 1))
            Self.write(Self.clearing(state.width, columns) + line)
            state.width = TextWidth.of(line)
        }
    }

    /// Removes the line for a moment, so that a message can be written.
    package func clear() {
        guard isDrawn else { return }
        state.withLock { state in
            guard state.lastDrawn != nil else { return }
            state.lastDrawn = nil
            Self.write(Self.clearing(state.width, TerminalSize(of: STDERR_FILENO).columns))
            state.width = 0
        }
    }

    /// Removes the line and gives the signals back.
    package func finish() {
        guard isDrawn else { return }
        clear()
        for number in caught { signal(number, SIG_DFL) }
    }

    // MARK: The terminal

    /// What removes a line of a width.
    private static func clearing(_ width: Int, _ columns: Int) -> String {
        // A terminal that became narrower has wrapped the line.
        let above = max(0, width - 1) / columns
        return above > 0 ? "\r\u{1B}[\(above)A\u{1B}[J" : "\r\u{1B}[K"
    }

    private static func write(_ text: String) {
        // The work goes on if its progress cannot be shown.
        try? FileHandle.standardError.write(contentsOf: Array(text.utf8))
    }

    /// Removes the line before a signal ends the process, where nothing else handles the signal.
    ///
    /// - Returns: The signals that nothing else handles.
    private static func catchSignals() -> [Int32] {
        [SIGINT, SIGTERM].filter { number in
            let previous = signal(number) { number in
                let clear: StaticString = "\r\u{1B}[K"
                // Handlers may call write, signal and raise, and little else.
                _ = Foundation.write(STDERR_FILENO, clear.utf8Start, clear.utf8CodeUnitCount)
                signal(number, SIG_DFL)
                raise(number)
            }
            if let previous { signal(number, previous) }
            return previous == nil
        }
    }
}
