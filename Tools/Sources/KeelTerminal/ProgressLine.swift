internal import Dispatch
internal import Foundation
internal import Synchronization

/// A line on standard error that shows the progress of long work.
///
/// The line shows the completed amount and the rate, and, if the total is known, the share, a bar and the remaining
/// time. It is drawn only if standard error is a terminal, and never wider. Updates draw it at most ten times per
/// second; besides, it is redrawn five times per second, so that the rate is right while the work stands still. SIGINT
/// and SIGTERM remove the line before they end the process, unless they have another handler or are ignored.
///
/// Several tasks may update the line at the same time.
package final class ProgressLine: Sendable {
    private struct State {
        var total: Int?
        /// The completed amount; nil before the first update, and once the line was removed.
        var done: Int?
        /// The previously drawn amount, without the work under way.
        var previous: Int?
        var note: String?
        var rate = ProgressRate()
        /// When the line was drawn; nil if it is not on the screen.
        var lastDrawn: Duration?
        /// The number of columns of the line on the screen.
        var width = 0
        var isFinished = false
    }

    private let unit: ProgressText.Unit
    private let state: Mutex<State>

    private let underWay: (@Sendable () -> Int)?
    private let elapsed: @Sendable () -> Duration
    private let columns: @Sendable () -> Int
    private let write: @Sendable (String) -> Void

    private let caught: CaughtSignals

    package let isDrawn: Bool

    /// Creates a line, which appears with the first update, unless `isQuiet` or without a terminal.
    ///
    /// `total` is nil if it is unknown; `underWay` returns how much of the completed amount does not count yet, such as
    /// bytes that wait to be sent.
    package init(
        total: Int? = nil,
        unit: ProgressText.Unit,
        isQuiet: Bool = false,
        underWay: (@Sendable () -> Int)? = nil
    ) {
        let start = ContinuousClock.now
        self.unit = unit
        self.underWay = underWay
        elapsed = { ContinuousClock.now - start }
        columns = { TerminalSize(of: STDERR_FILENO).columns }
        // The work continues even if its progress cannot be shown.
        write = { try? FileHandle.standardError.write(contentsOf: Array($0.utf8)) }
        state = Mutex(State(total: total))
        isDrawn = !isQuiet && isatty(STDERR_FILENO) == 1
        caught = CaughtSignals(isDrawn ? [SIGINT, SIGTERM] : [])
        if isDrawn { scheduleRedrawing() }
    }

    /// Creates a line for another terminal and clock, which handles no signals and is redrawn only by ``redraw()``.
    package init(
        total: Int? = nil,
        unit: ProgressText.Unit,
        underWay: (@Sendable () -> Int)? = nil,
        elapsed: @escaping @Sendable () -> Duration,
        columns: @escaping @Sendable () -> Int,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.unit = unit
        self.underWay = underWay
        self.elapsed = elapsed
        self.columns = columns
        self.write = write
        state = Mutex(State(total: total))
        isDrawn = true
        caught = CaughtSignals()
    }

    /// Draws the completed amount, or leaves it to ``redraw()`` less than a tenth of a second after the last drawing.
    ///
    /// - Parameters:
    ///   - done: The completed amount; the rate does not include the first value.
    ///   - total: The new total; nil to keep the present one.
    ///   - note: The text after the numbers.
    package func update(done: Int, total: Int? = nil, note: @autoclosure () -> String? = nil) {
        guard isDrawn else { return }
        state.withLock { state in
            guard !state.isFinished else { return }
            if let total { state.total = total }
            state.done = done
            state.note = note().map(TextWidth.harmless)
            let now = elapsed()
            if let last = state.lastDrawn, now - last < .milliseconds(100) { return }
            draw(&state, at: now)
        }
    }

    /// Draws the last update again, with the present rate and for the present width of the terminal.
    package func redraw() {
        state.withLock { state in draw(&state, at: elapsed()) }
    }

    private func draw(_ state: inout State, at now: Duration) {
        guard let last = state.done else { return }
        var done = last
        if let underWay {
            // A completed amount may be reported before it counts as under way, so the lower of two amounts is shown.
            let present = max(0, last - underWay())
            done = min(present, state.previous ?? present)
            state.previous = present
        }
        state.lastDrawn = now
        let text = ProgressText(
            unit: unit,
            done: done,
            total: state.total,
            rate: state.rate.note(done, at: now / .seconds(1)),
            note: state.note
        )
        let columns = columns()
        // Some terminals wrap once the last column is filled, and the two before it are for the ^C of Control-C.
        let line = text.line(width: max(1, columns - 3))
        write(Self.clearing(state.width, columns) + line)
        state.width = TextWidth.of(line)
    }

    /// Removes the line, for example to write a message; the next update draws it again.
    package func clear() {
        guard isDrawn else { return }
        state.withLock { state in
            state.done = nil
            guard state.lastDrawn != nil else { return }
            state.lastDrawn = nil
            write(Self.clearing(state.width, columns()))
            state.width = 0
        }
    }

    /// Removes the line, and restores the handling of signals.
    package func finish() {
        guard isDrawn else { return }
        clear()
        state.withLock { $0.isFinished = true }
        caught.restore()
    }

    // MARK: The terminal

    /// Returns the control sequence that removes a line of a width.
    private static func clearing(_ width: Int, _ columns: Int) -> String {
        // A terminal that became narrower has wrapped the line.
        let above = max(0, width - 1) / columns
        return above > 0 ? "\r\u{1B}[\(above)A\u{1B}[J" : "\r\u{1B}[K"
    }

    /// Redraws the line until it is finished or released.
    private func scheduleRedrawing() {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(200)) { [weak self] in
            guard let self, !state.withLock({ $0.isFinished }) else { return }
            redraw()
            scheduleRedrawing()
        }
    }
}

/// The signals that remove the line of a ``ProgressLine`` before they end the process.
package struct CaughtSignals: Sendable {
    private let caught: [(number: Int32, handler: Int)]

    /// Catches those of the signals that have no other handler.
    package init(_ numbers: [Int32] = []) {
        let free = numbers.filter(SignalWatch.isDefault)
        for number in free {
            signal(number) { number in
                let clear: StaticString = "\r\u{1B}[K"
                // Signal handlers may call only a few functions, such as write, signal and raise.
                _ = Foundation.write(STDERR_FILENO, clear.utf8Start, clear.utf8CodeUnitCount)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        caught = free.map { ($0, SignalWatch.handler(of: $0)) }
    }

    /// Restores the default action of the signals, unless they have got another handler.
    ///
    /// On Linux, the first ``SignalWatch`` of a signal installs one for good, which later watches need.
    package func restore() {
        for (number, handler) in caught where SignalWatch.handler(of: number) == handler {
            signal(number, SIG_DFL)
        }
    }
}
