import KeelLogging
import KeelStorage
import KeelTelemetryTools
import Logging
import Testing

@Suite("Log record filters")
struct LogFilterTests {
    private func record(
        _ message: String = "Signed in",
        level: Logger.Level = .info,
        label: String = "app.account",
        time: Int64 = 1000,
        fields: [LogField] = []
    ) -> LogRecord {
        LogRecord(
            time: time,
            level: level,
            label: label,
            message: message,
            fields: fields,
            source: "App",
            file: "App/Home.swift",
            function: "load()",
            line: 12
        )
    }

    private func filter(_ change: (inout LogFilter) -> Void) -> LogFilter {
        var filter = LogFilter()
        change(&filter)
        return filter
    }

    @Test("Each condition accepts only matching records")
    func conditions() {
        #expect(LogFilter().matches(record(level: .trace)))
        let important = filter { $0.level = .warning }
        #expect(important.matches(record(level: .warning)))
        #expect(important.matches(record(level: .error)))
        #expect(!important.matches(record(level: .notice)))
        let labelled = filter { $0.label = "app" }
        #expect(labelled.matches(record()) && labelled.matches(record(label: "app")))
        #expect(!labelled.matches(record(label: "apple")))
        let timed = filter { ($0.since, $0.until) = (1000, 2000) }
        #expect(timed.matches(record(time: 1000)) && timed.matches(record(time: 1999)))
        #expect(!timed.matches(record(time: 999)) && !timed.matches(record(time: 2000)))
        let texted = filter { $0.text = "signed" }
        #expect(texted.matches(record()) && !texted.matches(record("left")))
        let marked = filter { $0.fields = [LogFilter.Field("user", .equal, "7")].compactMap { $0 } }
        #expect(marked.matches(record(fields: [LogField("user", .text("7"))])))
        #expect(!marked.matches(record(fields: [LogField("user", .text("8"))])))
        #expect(!marked.matches(record()))
    }

    @Test(
        "A condition compares numbers as numbers, and other values as text",
        arguments: [
            ("7", .equal, 7, true), ("7.0", .equal, 7, true), ("07", .equal, "7", false),
            ("10", .greater, 9, true), ("10", .greater, "9", false), ("x", .greater, 9, false),
            ("9007199254740993", .greater, 9_007_199_254_740_992, true),
            ("1.5", .lessOrEqual, 1.5, true), ("nan", .equal, 1.5, false),
            ("even", .notEqual, "odd", true), ("x", .notEqual, 7, true),
            ("true", .equal, true, true), ("even", .in, ["even", 3], true),
            ("3.0", .in, ["even", 3], true), ("4", .notIn, ["even", 3], true),
            ("even", .notIn, ["even", 3], false), ("a", .arrayContains, "a", false),
        ] as [(String, DocumentFilter.Comparison, DocumentValue, Bool)]
    )
    func comparisons(
        _ text: String,
        _ comparison: DocumentFilter.Comparison,
        _ value: DocumentValue,
        _ isFound: Bool
    ) throws {
        let field = try #require(LogFilter.Field("n", comparison, value))
        let found = filter { $0.fields = [field] }
        #expect(found.matches(record(fields: [LogField("n", .text(text))])) == isFound)
        // A record without the field matches no condition.
        #expect(!found.matches(record()))
    }

    @Test("A list is searched, and values that no log has are refused")
    func lists() throws {
        let field = try #require(LogFilter.Field("tags", .arrayContainsAny, ["b", "c"]))
        let found = filter { $0.fields = [field] }
        let tags = LogField("tags", .list([.text("a"), .text("b")]))
        #expect(found.matches(record(fields: [tags])))
        #expect(LogFilter.Field("a", .equal, .null) == nil)
        #expect(LogFilter.Field("a", .in, [.reference("users/ada")]) == nil)
    }

    @Test("Only comparisons with several values take a list")
    func listComparisons() {
        let taking = DocumentFilter.Comparison.allCases.filter { comparison in
            LogFilter.Field("a", comparison, ["b", "c"]) != nil
        }
        #expect(Set(taking) == [.in, .notIn, .arrayContainsAny])
    }

    @Test("Moments are times, days, or durations before now")
    func moments() {
        let now: Int64 = 1_800_000_000_000_000
        #expect(LogMoment.microseconds("90s", now: now) == now - 90_000_000)
        #expect(LogMoment.microseconds("2d", now: now) == now - 172_800_000_000)
        #expect(LogMoment.microseconds("1970-01-02", now: now) == 86_400_000_000)
        #expect(LogMoment.microseconds("1970-01-01T00:00:01Z", now: now) == 1_000_000)
        for text in ["", "h", "-1h", "5", "2026-13-01", "yesterday", "9999999999999999d"] {
            #expect(LogMoment.microseconds(text, now: now) == nil, "\(text)")
        }
        #expect(LogMoment.seconds("15m") == 900)
        #expect(LogMoment.seconds("2026-01-01") == nil)
    }

    @Test("Counts are grouped by level, label, message or field, the largest first")
    func counts() {
        var counts = LogCounts(by: "user")
        for user in ["b", "a", "b"] { counts.add(record(fields: [LogField("user", .text(user))])) }
        counts.add(record())
        #expect(counts.sorted.map(\.key) == ["b", "", "a"])
        #expect(counts.sorted.map(\.count) == [2, 1, 1])
        var levels = LogCounts(by: "level")
        levels.add(record(level: .error))
        #expect(levels.sorted.map(\.key) == ["error"])
    }
}
