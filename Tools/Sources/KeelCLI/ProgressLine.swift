import Foundation
import Synchronization

/// One line on standard error that says how far long work has come.
///
/// It shows what is done, the rate, and, where the total is known, a bar and the time left. It is
/// drawn only where standard error is a terminal, at most ten times a second, and never wider than
/// the terminal is at that moment. SIGINT and SIGTERM remove it before they end the process.
///
/// Tasks that run at the same time may update it.
final class ProgressLine: Sendable {
    /// The unit of the numbers.
    enum Unit: Equatable, Sendable {
        /// Bytes, shown as KiB, MiB and so on.
        case bytes
        /// Things that have this name in the plural, such as “documents”.
        case items(String)
    }

    private struct State {
        var total: Int?
        /// The part done before this run, which does not count for the rate.
        var before: Int?
        var lastDrawn: ContinuousClock.Instant?
    }

    private let unit: Unit
    private let isDrawn: Bool
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// Creates a line, which appears with the first update.
    ///
    /// - Parameters:
    ///   - total: The amount of work; nil if it is unknown.
    ///   - unit: What is counted.
    ///   - isQuiet: Whether nothing is drawn, whatever standard error is.
    init(total: Int?, unit: Unit, isQuiet: Bool = false) {
        self.unit = unit
        state = Mutex(State(total: total))
        isDrawn = !isQuiet && isatty(STDERR_FILENO) == 1
        if isDrawn { Self.catchSignals() }
    }

    /// Draws how much is done, unless it did so a moment ago.
    ///
    /// - Parameters:
    ///   - done: What is done altogether. The first value counts as done before this run.
    ///   - total: A new total, where it has become known.
    func update(done: Int, total: Int? = nil) {
        guard isDrawn else { return }
        state.withLock { state in
            if let total { state.total = total }
            let before = state.before ?? done
            state.before = before
            let now = ContinuousClock.now
            if let last = state.lastDrawn, now - last < .milliseconds(100) { return }
            state.lastDrawn = now
            let text = Self.text(
                done: done,
                total: state.total,
                before: before,
                elapsed: (now - start) / .seconds(1),
                unit: unit,
                width: Self.terminalWidth
            )
            Self.write("\r\u{1B}[K\(text)")
        }
    }

    /// Removes the line for a moment, so that a message can be written.
    func clear() {
        guard isDrawn else { return }
        state.withLock { state in
            guard state.lastDrawn != nil else { return }
            state.lastDrawn = nil
            Self.write("\r\u{1B}[K")
        }
    }

    /// Removes the line and gives the signals back.
    func finish() {
        guard isDrawn else { return }
        clear()
        Self.releaseSignals()
    }

    // MARK: Text

    /// The text of the line.
    static func text(
        done: Int,
        total: Int?,
        before: Int,
        elapsed: Double,
        unit: Unit,
        width: Int
    ) -> String {
        let rate = elapsed > 0 ? Double(done - before) / elapsed : 0
        var parts: [String] = []
        if let total {
            parts.append("\(amount(Double(done), unit)) of \(described(total, unit))")
        } else {
            parts.append(described(done, unit))
        }
        if rate > 0 {
            parts.append("\(amount(rate, unit))/s")
            if let total, total > done { parts.append("\(time(Double(total - done) / rate)) left") }
        }
        let text = parts.joined(separator: ", ")
        // The last column stays free: some terminals go on to the next line once it is filled.
        let room = max(1, width - 1)
        guard let total, total > 0, room >= text.count + 13 else {
            return String(text.prefix(room))
        }
        let size = min(30, room - text.count - 3)
        let full = min(size, max(0, Int(Double(size) * Double(done) / Double(total))))
        let bar = String(repeating: "#", count: full) + String(repeating: "·", count: size - full)
        return "[\(bar)] \(text)"
    }

    private static func described(_ count: Int, _ unit: Unit) -> String {
        guard case .items(let name) = unit else { return amount(Double(count), unit) }
        return "\(count) \(name)"
    }

    private static func amount(_ count: Double, _ unit: Unit) -> String {
        guard unit == .bytes else { return String(Int(count.rounded())) }
        var value = count
        for name in ["B", "KiB", "MiB", "GiB"] {
            guard value >= 1024 else { return number(value, name) }
            value /= 1024
        }
        return number(value, "TiB")
    }

    private static func number(_ value: Double, _ name: String) -> String {
        let isWhole = name == "B" || value >= 100
        return "\(String(format: isWhole ? "%.0f" : "%.1f", value)) \(name)"
    }

    private static func time(_ seconds: Double) -> String {
        // Beyond that a rate says little, and the number could be too large to be one.
        guard seconds < 360_000 else { return "over 100h" }
        let whole = Int(seconds.rounded(.up))
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        if hours > 0 { return "\(hours)h\(minutes)m" }
        return minutes > 0 ? "\(minutes)m\(whole % 60)s" : "\(whole)s"
    }

    // MARK: The terminal

    private static var terminalWidth: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    private static func write(_ text: String) {
        // The work goes on if its progress cannot be shown.
        try? FileHandle.standardError.write(contentsOf: Array(text.utf8))
    }

    /// Removes the line before a signal ends the process, where nothing else handles the signal.
    private static func catchSignals() {
        for number in [SIGINT, SIGTERM] {
            let previous = signal(number) { number in
                let clear: StaticString = "\r\u{1B}[K"
                // Handlers may call write, signal and raise, and little else.
                _ = Foundation.write(STDERR_FILENO, clear.utf8Start, clear.utf8CodeUnitCount)
                signal(number, SIG_DFL)
                raise(number)
            }
            if let previous { signal(number, previous) }
        }
    }

    private static func releaseSignals() {
        for number in [SIGINT, SIGTERM] {
            let previous = signal(number, SIG_DFL)
            // SIG_IGN belongs to a command that waits for the signal in another way.
            if let previous, unsafeBitCast(previous, to: Int.self) == 1 { signal(number, SIG_IGN) }
        }
    }
}
