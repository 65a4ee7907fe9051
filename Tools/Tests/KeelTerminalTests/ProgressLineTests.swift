import KeelTerminal
import Synchronization
import Testing

@Suite("The line of progress")
struct ProgressLineTests {
    /// A terminal and a clock in the hands of the test.
    private final class Screen: Sendable {
        let time = Mutex(Duration.zero)
        let columns = Mutex(100)
        let unsent = Mutex(0)
        private let written = Mutex("")

        /// Returns what was written since the last call.
        func new() -> String {
            written.withLock { written in
                defer { written = "" }
                return written
            }
        }

        func line(_ unit: ProgressText.Unit = .bytes, counts: Bool = false) -> ProgressLine {
            let unsent: @Sendable () -> Int = { self.unsent.withLock { $0 } }
            return ProgressLine(
                unit: unit,
                underWay: counts ? unsent : nil,
                elapsed: { self.time.withLock { $0 } },
                columns: { self.columns.withLock { $0 } },
                write: { text in self.written.withLock { $0 += text } }
            )
        }

        func pass(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private let screen = Screen()

    @Test("The last update of a burst is drawn, and rate and time left move without new bytes")
    func bursts() {
        let line = screen.line()
        line.update(done: 0, total: 100 << 20)
        #expect(screen.new().contains("0 %, 0 B of 100 MiB"))
        screen.pass(.milliseconds(10))
        line.update(done: 1 << 20)
        line.update(done: 20 << 20)
        #expect(screen.new().isEmpty)
        screen.pass(.milliseconds(190))
        line.redraw()
        #expect(screen.new().contains("20 %, 20.0 MiB of 100 MiB"))
        screen.pass(.milliseconds(1800))
        line.redraw()
        #expect(screen.new().contains("10.0 MiB/s, 8s left"))
        screen.pass(.seconds(3))
        line.redraw()
        #expect(screen.new().contains("4.0 MiB/s, 20s left"))
        // Of the last ten seconds, nothing has come.
        for _ in 0..<60 {
            screen.pass(.milliseconds(200))
            line.redraw()
        }
        #expect(screen.new().hasSuffix("20 %, 20.0 MiB of 100 MiB"))
    }

    @Test("A line that was removed stays away until the next update, and for good at the end")
    func removal() {
        let line = screen.line(.items("files"))
        line.redraw()
        #expect(screen.new().isEmpty)
        line.update(done: 1)
        #expect(screen.new().hasSuffix("1 file"))
        line.clear()
        _ = screen.new()
        screen.pass(.seconds(1))
        line.redraw()
        #expect(screen.new().isEmpty)
        line.update(done: 2)
        #expect(screen.new().contains("2 files"))
        line.finish()
        _ = screen.new()
        screen.pass(.seconds(1))
        line.update(done: 3)
        line.redraw()
        #expect(screen.new().isEmpty)
    }

    @Test("What was read and waits to be sent does not count")
    func unsent() {
        let line = screen.line(counts: true)
        screen.unsent.withLock { $0 = 20 << 20 }
        line.update(done: 20 << 20, total: 40 << 20)
        #expect(screen.new().contains("0 %, 0 B of 40.0 MiB"))
        var shown = ""
        for second in 1...3 {
            screen.pass(.seconds(1))
            screen.unsent.withLock { $0 = (20 - 2 * second) << 20 }
            line.redraw()
            shown = screen.new()
        }
        // The amount of the second before.
        #expect(shown.contains("10 %, 4.0 MiB of 40.0 MiB, 1.3 MiB/s"))
        // The next part was read, and its request is not there yet.
        line.update(done: 28 << 20)
        screen.pass(.milliseconds(200))
        line.redraw()
        #expect(screen.new().contains("15 %, 6.0 MiB of 40.0 MiB"))
    }

    @Test("A line that a narrower terminal has wrapped is removed in all its rows")
    func narrower() {
        let line = screen.line()
        line.update(done: 1, total: 2, note: String(repeating: "n", count: 200))
        _ = screen.new()
        screen.columns.withLock { $0 = 40 }
        line.redraw()
        let text = screen.new()
        #expect(text.hasPrefix("\r\u{1B}[2A\u{1B}[J"))
        #expect(TextWidth.of(text.drop { $0 != "J" }.dropFirst()) == 37)
    }

    @Test("Control characters of a note do not reach the terminal")
    func controls() {
        screen.line().update(done: 1, note: "a\u{1B}[31mb")
        #expect(screen.new().hasSuffix("1 B, a\u{FFFD}[31mb"))
    }
}
