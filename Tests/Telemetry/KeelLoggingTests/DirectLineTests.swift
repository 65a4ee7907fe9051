#if Logging

import KeelTestSupport
import KeelTestKit
import Logging
import Testing

@testable import KeelLogging

@Suite("Log lines without a record")
struct DirectLineTests {
    private let disk = SimulatedFileSystem()
    private let time = MutableTime(1_795_340_713_123_456)

    private func file() throws -> RotatingLogFile {
        var configuration = LogFileConfiguration()
        configuration.byteLimit = nil
        return try RotatingLogFile(
            at: "/logs/app.log",
            configuration,
            files: disk,
            worker: .immediate,
            now: { [time] in time.now }
        )
    }

    private func recorder() -> LogRecorder {
        LogRecorder(textByteLimit: 200, now: { [time] in time.now })
    }

    private func lines() throws -> [String] {
        let bytes = try #require(disk.disk["/logs/app.log"])
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func event(
        _ message: Logger.Message,
        _ metadata: Logger.Metadata? = nil,
        error: (any Error)? = nil
    ) -> LogEvent {
        LogEvent(
            level: .info,
            message: message,
            error: error,
            metadata: metadata,
            source: nil,
            file: "App/Home.swift",
            function: "load()",
            line: 12
        )
    }

    /// Whether the output writes an event directly.
    private func isDirect(
        _ event: LogEvent,
        _ file: RotatingLogFile,
        base: [LogField] = [],
        provided: Logger.Metadata? = nil
    ) -> Bool {
        file.write(event.level, at: time.now) { _, line in
            JSONLine.append(
                event,
                at: time.now,
                label: "test",
                base: base,
                provided: provided,
                recorder: recorder(),
                to: &line
            )
        }
    }

    @Test("Plain events need no record from a statement's second event on")
    func plain() throws {
        let file = try file()
        #expect(!isDirect(event("first"), file))
        logger(to: file, recorder: recorder()).handler.log(event: event("first"))
        #expect(isDirect(event("second"), file))
        #expect(
            isDirect(event("third", ["b": "2", "a": "1"]), file, base: [LogField("c", .text("3"))])
        )
        #expect(isDirect(event("fourth", [:]), file, provided: ["b": "4", "a": "5"]))
        #expect(try lines().count == 4)
    }

    struct Failure: Error {}

    @Test("Events to be redacted, cut or described need a record, and write nothing directly")
    func needs() throws {
        let file = try file()
        logger(to: file, recorder: recorder()).handler.log(event: event("first"))
        let long = String(repeating: "long ", count: 50)
        let events = [
            event("to ada@example.org"), event("x", ["user": "ada@example.org"]),
            event("x", ["password": "x"]), event("x", ["größe": "x"]), event("x", ["a\"b": "x"]),
            event("x", ["n": .stringConvertible(7)]), event("x", ["n": ["a", "b"]]),
            event("x", ["n": ["a": "b"]]), event("x", error: Failure()),
            event("\(long)"), event("x", ["n": .string(long)]),
            event("x", ["n": "\("4f", sensitivity: .sensitive)"]),
        ]
        for event in events {
            #expect(!isDirect(event, file), "\(event.message) \(event.metadata ?? [:])")
        }
        #expect(!isDirect(event("x"), file, provided: ["token": "x"]))
        #expect(!isDirect(event("x"), file, base: [LogField("n", .list([]))]))
        let many = (0..<40).map { ("key\($0)", Logger.MetadataValue.string("x")) }
        #expect(!isDirect(event("x", Dictionary(uniqueKeysWithValues: many)), file))
        #expect(try lines().count == 1)
        #expect(isDirect(event("second"), file))
        #expect(try lines().count == 2)
    }

    @Test("The direct line equals the line of the record", arguments: [UInt64(1), 2, 3])
    func sameAsRecord(seed: UInt64) throws {
        let file = try file()
        let memory = MemoryLogOutput()
        var random = SeededRandom(seed: seed)
        var direct = 0
        for number in 0..<2_000 {
            var (one, other) = (
                logger(to: file, recorder: recorder()), logger(to: memory, recorder: recorder())
            )
            if Bool.random(using: &random) {
                let base = metadata(&random, upTo: 3)
                for (name, value) in base {
                    one[metadataKey: name] = value
                    other[metadataKey: name] = value
                }
            }
            let metadata = Bool.random(using: &random) ? metadata(&random, upTo: 6) : nil
            let event = event("\(text(&random))", metadata)
            if isDirect(event, file) {
                direct += 1
                logger(to: memory, recorder: recorder()).handler.log(event: event)
            }
            one.handler.log(event: event)
            other.handler.log(event: event)
            time.advance(by: number % 7 == 0 ? 999_999 : 137)
        }
        let expected = memory.records.map {
            String(decoding: LogFormat.jsonLines.bytes(of: $0).dropLast(), as: UTF8.self)
        }
        #expect(try lines() == expected)
        #expect(direct > 200 && direct < 1_900)
    }

    private func text(_ random: inout SeededRandom) -> String {
        let parts = [
            "order", "placed", "7", "100001", "Bella Vista", "\"", "\\", "\n", "\u{7F}", "é", "日本",
            "in 3.5 ms", "ada@example.org", "GET /a?b=c", "Bearer 4f2a9c", "",
            "a somewhat longer one",
        ]
        return (0..<Int.random(in: 0...3, using: &random))
            .map { _ in parts.randomElement(using: &random) ?? "" }.joined(separator: " ")
    }

    private func metadata(_ random: inout SeededRandom, upTo limit: Int) -> Logger.Metadata {
        let names = [
            "a", "b", "ab", "abc", "order", "orders", "orderNumber", "orderNumbers", "restaurant",
            "restaurants", "z", "A", "request-id", "request.id", "größe", "token",
        ]
        var metadata: Logger.Metadata = [:]
        for _ in 0..<Int.random(in: 0...limit, using: &random) {
            let name = names.randomElement(using: &random) ?? ""
            // Sensitive names and others that need a record are rare.
            if name == "token" || name == "größe", Int.random(in: 0..<8, using: &random) > 0 {
                continue
            }
            metadata[name] =
                Int.random(in: 0..<30, using: &random) == 0
                ? .stringConvertible(7) : .string(text(&random))
        }
        return metadata
    }
}

#endif
