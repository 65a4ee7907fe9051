#if Logging

import Foundation
import KeelTestKit
import Logging
import Testing

@testable import KeelLogging

@Suite("Log line formats")
struct LogFormatTests {
    private func line(_ record: LogRecord, _ format: LogFormat) -> String {
        String(decoding: format.bytes(of: record), as: UTF8.self)
    }

    @Test("A JSON line has these keys in this order")
    func json() {
        let fields: [LogField] = [
            LogField("a", .text("1")), LogField("b", .list([.text("x"), .list([])])),
            LogField("c", .map([LogField("d", .text("y"))])), LogField("e", .map([])),
        ]
        #expect(
            line(.sample("signed \"in\"", fields: fields), .jsonLines)
                == #"{"time":"2026-11-22T09:45:13.123456Z","level":"info","label":"test","#
                + #""message":"signed \"in\"","metadata":{"a":"1","b":["x",[]],"c":{"d":"y"},"#
                + #""e":{}},"source":"App","file":"App/Home.swift","function":"load()","#
                + #""line":12}"# + "\n"
        )
    }

    @Test("Foundation reads any text from a JSON line, which stays on one line")
    func roundTrip() throws {
        var random = SeededRandom(seed: 7)
        var texts = [
            "", "\0", "\u{1F}", "\u{7F}", "\\", "\"", "\n\r\t", "\u{2028}", "a\u{301}", "𝄞",
        ]
        // Every length with an escape at every position, since eight bytes are scanned at a time.
        for length in 1...20 {
            for place in 0..<length {
                var bytes = [UInt8](repeating: 0x61, count: length)
                bytes[place] = place % 2 == 0 ? 0x22 : 0x0A
                texts.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        for _ in 0..<500 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                let limit: UInt32 = Bool.random(using: &random) ? 0x100 : 0x11_0000
                let value = UInt32.random(in: 0..<limit, using: &random)
                if let scalar = Unicode.Scalar(value) { text.append(scalar) }
            }
            texts.append(String(text))
        }
        for text in texts {
            let record = LogRecord.sample(text, fields: [LogField(text, .text(text))])
            let bytes = LogFormat.jsonLines.bytes(of: record)
            #expect(bytes.firstIndex(of: 0x0A) == bytes.count - 1)
            let object = try JSONSerialization.jsonObject(with: Data(bytes))
            let read = try #require(object as? [String: Any])
            let message = try #require(read["message"] as? String)
            #expect(message.unicodeScalars.elementsEqual(text.unicodeScalars))
            let metadata = try #require(read["metadata"] as? [String: String])
            #expect(metadata.values.first == text)
        }
    }

    @Test("A text line has symbol, time, level, place, message, fields and error")
    func text() {
        var text = TextLine(hasSymbols: true)
        text.offset = { _ in 3600 }
        var line = LineBuffer()
        let fields = [
            LogField("error.message", .text("timed out")), LogField("user", .text("7")),
            LogField("z", .list([.text("a"), .map([LogField("b", .text("c"))])])),
        ]
        text.append(.sample("signed in", level: .error, fields: fields), to: &line)
        #expect(
            String(decoding: line.bytes, as: UTF8.self)
                == "❌ [2026-11-22 10:45:13.123] [ERROR] [test] [Home.swift:12] load(): signed in "
                + "user=7 z=[a, {b=c}] - Error: timed out\n"
        )
    }

    @Test("Every level has its own symbol, title and color")
    func levels() {
        let levels = Logger.Level.allCases
        #expect(Set(levels.map { "\($0.symbol)" }).count == levels.count)
        #expect(Set(levels.map { "\($0.title)" }).count == levels.count)
        #expect(levels.allSatisfy { "\($0.color)".hasPrefix("\u{1B}[") })
        #expect("\(Logger.Level.critical.title)" == "FATAL")
    }

    @Test("A text can neither forge a line nor control a terminal")
    func forging() {
        let text = "ok\n[2026-11-22 00:00:00.000] [FATAL] forged\u{1B}[2J\u{9B}31m\u{7F}"
        let written = line(.sample(text, fields: [LogField("a\nb", .text("c\rd"))]), .text())
        #expect(written.filter { $0 == "\n" }.count == 1)
        #expect(!written.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x9B })
        #expect(written.contains(#"\n[2026"#))
        #expect(written.contains(#"\u{1b}[2J\u{9b}31m\u{7f}"#))
        let indented = line(.sample("a\nb"), .text(indentsLineBreaks: true))
        #expect(indented.contains("a\n    b"))
    }

    @Test(
        "Times are correct, including leap days and years before 1970",
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"), (-1, "1969-12-31T23:59:59.999999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (1_709_251_199_999_999, "2024-02-29T23:59:59.999999Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
            (-62_135_596_800_000_000, "0001-01-01T00:00:00.000000Z"),
        ]
    )
    func times(time: Int64, expected: String) {
        var line = LineBuffer()
        line.append(utc: time)
        #expect(String(decoding: line.bytes, as: UTF8.self) == expected)
    }

    @Test("Numbers have all digits, including the largest and smallest")
    func numbers() {
        for number in [0, 9, 10, 99, 100, -5, Int64.max, Int64.min] {
            var line = LineBuffer(capacity: 1)
            line.append(number)
            #expect(String(decoding: line.bytes, as: UTF8.self) == "\(number)")
        }
        var line = LineBuffer()
        line.append(7, digits: 3)
        #expect(String(decoding: line.bytes, as: UTF8.self) == "007")
    }

    @Test("The console format depends on the terminal and the environment")
    func console() {
        func bytes(_ isTerminal: Bool, _ environment: [String: String]) -> String {
            let format = ConsoleLogOutput.format(isTerminal: isTerminal) { environment[$0] }
            return String(decoding: format.bytes(of: .sample()), as: UTF8.self)
        }
        #expect(bytes(false, [:]).hasPrefix("{"))
        #expect(bytes(true, ["TERM": "xterm"]).contains("\u{1B}[36mINFO"))
        #expect(!bytes(true, ["NO_COLOR": "1"]).contains("\u{1B}"))
        #expect(!bytes(true, ["TERM": "dumb"]).contains("\u{1B}"))
        #expect(bytes(true, ["TERM": "dumb"]).hasPrefix("ℹ️ ["))
    }
}

#endif
