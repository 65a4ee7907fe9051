import Foundation
import KeelHTTP
import KeelTestKit
import Testing

@Suite("Format of server-sent events")
struct EventFormatTests {
    @Test("Each rule holds wherever the bytes are split", arguments: EventFormat.all)
    func reads(_ row: EventFormat) throws {
        let bytes = row.bytes
        var cuts = [[bytes[...]], bytes.indices.map { bytes[$0...$0] }]
        cuts += bytes.indices.map { [bytes[..<$0], bytes[$0...]] }
        for pieces in cuts {
            var parser = ServerSentEventParser()
            var events: [ServerSentEvent] = []
            for piece in pieces {
                parser.append(piece)
                while let event = try parser.next() { events.append(event) }
            }
            #expect(events == row.events)
            #expect(parser.lastEventID == row.lastID)
            #expect(parser.reconnectionDelay == row.delay)
        }
    }

    @Test("The reference parser follows each rule too", arguments: EventFormat.all)
    func agreesWithReference(_ row: EventFormat) {
        let outcome = ReferenceEventParser.read(row.bytes)
        #expect(outcome.events == row.events)
        #expect(outcome.lastEventID == row.lastID)
        #expect(outcome.delay == row.delay)
    }

    /// Compares with a parser that follows the standard's text literally, on random streams.
    ///
    /// `KEEL_SSE_STREAMS` sets their number, `KEEL_SSE_SEED` the first seed.
    @Test("Random streams in random chunks are parsed as the standard requires")
    func agreesOnRandomStreams() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["KEEL_SSE_STREAMS"].flatMap(Int.init) ?? 20_000
        let seed = environment["KEEL_SSE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
        var random = SeededRandom(seed: seed)
        for number in 0..<count {
            let bytes = Self.stream(&random)
            let expected = ReferenceEventParser.read(bytes)
            var parser = ServerSentEventParser()
            var events: [ServerSentEvent] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let size = Int.random(in: 1...max(1, min(rest.count, 24)), using: &random)
                parser.append(rest.prefix(size))
                rest = rest.dropFirst(size)
                // Sometimes more bytes arrive before the earlier ones are read.
                if Bool.random(using: &random) { continue }
                while let event = try parser.next() { events.append(event) }
            }
            while let event = try parser.next() { events.append(event) }
            let isEqual =
                events == expected.events && parser.lastEventID == expected.lastEventID
                && parser.reconnectionDelay == expected.delay
            #expect(isEqual, "seed \(seed), stream \(number): \(bytes)")
            guard isEqual else { return }
        }
    }

    private static let words: [[UInt8]] =
        [
            "data", "data:", "data: ", "event:", "event: ", "id", "id:", "id: ", "retry:",
            "retry: ", "\n", "\n", "\n\n", "\r", "\r\n", "\r\r", ":", " ", "x", "12", "0", "\u{0}",
            "ü", "…", "\u{1F600}", "\u{FEFF}", "message", "a longer piece of text",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xE2, 0x80], [0xEF, 0xBB], [0x80]]

    private static func stream(_ random: inout SeededRandom) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            bytes += words[Int.random(in: 0..<words.count, using: &random)]
        }
        return bytes
    }
}

/// A parser that takes the steps of WHATWG HTML, section 9.2.6, one after the other.
private enum ReferenceEventParser {
    struct Outcome {
        var events: [ServerSentEvent] = []
        var lastEventID = ""
        var delay: Duration?
    }

    static func read(_ bytes: [UInt8]) -> Outcome {
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scalars.removeFirst() }
        var outcome = Outcome()
        var data = ""
        var type = ""
        var lastID = ""
        for line in lines(scalars) {
            if line.isEmpty {
                outcome.lastEventID = lastID
                if data.unicodeScalars.isEmpty {
                    type = ""
                    continue
                }
                data.unicodeScalars.removeLast()
                outcome.events.append(
                    ServerSentEvent(
                        type: type.isEmpty ? "message" : type,
                        data: data,
                        lastEventID: lastID
                    )
                )
                data = ""
                type = ""
                continue
            }
            let colon = line.firstIndex(of: ":")
            var value = colon.map { Array(line[($0 + 1)...]) } ?? []
            if value.first == " " { value.removeFirst() }
            switch text(Array(line[..<(colon ?? line.count)])) {
            case "event": type = text(value)
            case "data":
                data.unicodeScalars.append(contentsOf: value)
                data.unicodeScalars.append("\n")
            case "id": if !value.contains("\u{0}") { lastID = text(value) }
            case "retry":
                if !value.isEmpty, value.allSatisfy({ ("0"..."9").contains($0) }),
                    let number = Int64(text(value))
                {
                    outcome.delay = .milliseconds(number)
                }
            default: break
            }
        }
        return outcome
    }

    private static func text(_ scalars: [Unicode.Scalar]) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text
    }

    /// Returns the lines that have an end; text after the last end is not a line.
    private static func lines(_ scalars: [Unicode.Scalar]) -> [[Unicode.Scalar]] {
        var lines: [[Unicode.Scalar]] = []
        var line: [Unicode.Scalar] = []
        var index = 0
        while index < scalars.count {
            switch scalars[index] {
            case "\r":
                lines.append(line)
                line = []
                if index + 1 < scalars.count, scalars[index + 1] == "\n" { index += 1 }
            case "\n":
                lines.append(line)
                line = []
            default: line.append(scalars[index])
            }
            index += 1
        }
        return lines
    }
}
