import KeelTerminal
import Testing

@Suite("Progress and widths")
struct ProgressTextTests {
    private func text(
        _ done: Int,
        of total: Int?,
        rate: Double = 0,
        unit: ProgressText.Unit = .bytes,
        note: String? = nil,
        width: Int = 200
    ) -> String {
        ProgressText(unit: unit, done: done, total: total, rate: rate, note: note)
            .line(width: width)
    }

    @Test("A line has the share, the amounts, the rate, the time left and a bar")
    func whole() {
        let half = text(5 << 20, of: 10 << 20, rate: Double(1 << 20), note: "a.bin")
        let bar = String(repeating: "#", count: 15) + String(repeating: "·", count: 15)
        #expect(half == "[\(bar)] 50 %, 5.0 MiB of 10.0 MiB, 1.0 MiB/s, 5s left, a.bin")
        let items = text(30, of: 120, rate: 0.5, unit: .items("documents"))
        #expect(items.hasSuffix("25 %, 30 of 120 documents, under 1/s, 3m0s left"))
        #expect(text(1536, of: nil, rate: 100 * 1024) == "1.5 KiB, 100 KiB/s")
        #expect(text(7, of: nil, unit: .items("documents")) == "7 documents")
        #expect(text(0, of: 0).hasPrefix("100 %"))
        #expect(text(9, of: 3, unit: .items("documents")) == "9 documents")
        #expect(text(1, of: .max, rate: 1).contains("over 100h left"))
        let share = text(420, of: 1000, rate: 29, unit: .share, note: "notes(n+)")
        #expect(share.hasSuffix("] 42 %, 20s left, notes(n+)"))
    }

    @Test("A line is never wider than the terminal", arguments: 0...120)
    func narrow(width: Int) {
        let line = text(5 << 20, of: 10 << 20, rate: 1e6, note: "写真/🍣🍣.jpg", width: width)
        #expect(TextWidth.of(line) <= width)
    }

    @Test("The rate is that of the last ten seconds, and never negative")
    func rates() {
        var rate = ProgressRate()
        #expect(rate.note(500, at: 0) == 0)
        #expect(rate.note(600, at: 1) == 100)
        for second in 2...60 { _ = rate.note(600, at: Double(second)) }
        #expect(rate.note(600, at: 61) == 0)
        #expect(rate.note(10, at: 62) == 0)
        #expect(rate.note(20, at: 63) == 10)
    }

    @Test(
        "A character has the columns that a terminal gives it",
        arguments: [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("漢", 2), ("ｶ", 1), ("Ａ", 2), ("한", 2), ("🍣", 2),
            ("👩‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("❤️", 2), ("👍🏽", 2), ("☃", 1), ("\u{200B}", 0), ("", 0),
            ("Zoë 🍣 漢字", 11),
        ]
    )
    func widths(text: String, width: Int) { #expect(TextWidth.of(text) == width) }

    @Test("A text is cut between characters, and never wider than it may be")
    func cuts() {
        #expect(TextWidth.truncated("漢字漢字", to: 8) == "漢字漢字")
        #expect(TextWidth.truncated("漢字漢字", to: 7) == "漢字漢…")
        #expect(TextWidth.truncated("漢字漢字", to: 6) == "漢字…")
        #expect(TextWidth.truncated("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", to: 3) == "👩‍👩‍👧‍👦…")
        #expect(TextWidth.truncated("abc", to: 0) == "")
        #expect(TextWidth.harmless("a\u{1B}[31m") == "a\u{FFFD}[31m")
    }
}
