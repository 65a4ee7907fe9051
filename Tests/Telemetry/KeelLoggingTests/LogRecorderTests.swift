#if Logging

import KeelCore
import KeelLogging
import KeelTestSupport
import Logging
import Testing

@Suite("Creating log records")
struct LogRecorderTests {
    private let output = MemoryLogOutput()

    private func record(_ log: (Logger) -> Void) throws -> LogRecord {
        log(logger(to: output))
        return try #require(output.records.last)
    }

    @Test("A record has a message, level, place and metadata")
    func everything() throws {
        let line: UInt = #line + 2
        let record = try record {
            $0.notice("opened", metadata: ["page": "home", "count": "\(3)"])
        }
        #expect(record.level == .notice)
        #expect(record.message == "opened")
        #expect(record.label == "test")
        #expect(record.fields == [LogField("count", .text("3")), LogField("page", .text("home"))])
        #expect(record.source == "KeelLoggingTests")
        #expect(record.file == "KeelLoggingTests/LogRecorderTests.swift")
        #expect(record.function == "everything()")
        #expect(record.line == line)
    }

    @Test("A value marked as sensitive is replaced, and one marked as public is not")
    func marks() throws {
        let record = try record {
            $0.info(
                "signed in",
                metadata: [
                    "name": "\("Ada", sensitivity: .sensitive)",
                    "mixed": "\("x", sensitivity: .public) and \("Ada", sensitivity: .sensitive)",
                    "mail": "\("ada@example.org", sensitivity: .public)",
                    "password": "\("to be changed", sensitivity: .public)",
                    "nested": ["name": "\("Ada", sensitivity: .sensitive)"],
                ]
            )
        }
        #expect(record["name"] == .text("<redacted>"))
        #expect(record["mixed"] == .text("<redacted>"))
        #expect(record["mail"] == .text("ada@example.org"))
        #expect(record["password"] == .text("to be changed"))
        #expect(record["nested"] == .map([LogField("name", .text("<redacted>"))]))
    }

    @Test("The value of a sensitive name is replaced at any depth")
    func names() throws {
        let record = try record {
            $0.info(
                "asked",
                metadata: [
                    "access_token": "abc", "apiKey": ["a", "b"],
                    "request": ["headers": ["Authorization": "plain"], "path": "/a"],
                    "list": [["password": "p1"]],
                ]
            )
        }
        #expect(record["access_token"] == .text("<redacted>"))
        #expect(record["apiKey"] == .text("<redacted>"))
        #expect(
            record["request"]
                == .map([
                    LogField("headers", .map([LogField("Authorization", .text("<redacted>"))])),
                    LogField("path", .text("/a")),
                ])
        )
        #expect(record["list"] == .list([.map([LogField("password", .text("<redacted>"))])]))
    }

    @Test("A name that is itself a secret is replaced, at any depth and in a logger's metadata")
    func secretNames() throws {
        var logger = logger(to: output)
        logger[metadataKey: "bob@example.org"] = "1"
        logger.info(
            "asked",
            metadata: ["ada@example.org": "3", "by": ["eve@example.org": "x", "page": "home"]]
        )
        let record = try #require(output.records.last)
        #expect(!"\(record)".contains("example.org"))
        #expect(
            record["by"]
                == .map([LogField("<redacted>", .text("x")), LogField("page", .text("home"))])
        )
        #expect(record.fields.count == 3)
    }

    @Test("Secrets with a known pattern are replaced in message, values, parts and errors")
    func forms() throws {
        struct Failure: Error, CustomStringConvertible {
            let description = "no such user: ada@example.org"
        }
        let record = try record {
            $0.error(
                "login of ada@example.org from 192.0.2.7",
                error: Failure(),
                metadata: ["card": "4111 1111 1111 1111", "all": ["x", "bob@example.org"]]
            )
        }
        #expect(record.message == "login of <redacted> from <redacted>")
        #expect(record["card"] == .text("<redacted>"))
        #expect(record["all"] == .list([.text("x"), .text("<redacted>")]))
        #expect(record["error.message"] == .text("no such user: <redacted>"))
        guard case .text(let type) = record["error.type"] else { return fail("no type") }
        #expect(type.hasSuffix("Failure"))
    }

    @Test("A secret in one text does not change another text")
    func independence() throws {
        let record = try record {
            $0.info("secret=\"open end", metadata: ["a": "b c", "z": "-----BEGIN nothing"])
        }
        #expect(record.message == "secret=\"<redacted>")
        #expect(record["a"] == .text("b c"))
        #expect(record["z"] == .text("-----BEGIN nothing"))
    }

    @Test("A logger's metadata is redacted too, and a statement's takes precedence")
    func base() throws {
        var logger = logger(to: output)
        logger[metadataKey: "user"] = "ada@example.org"
        logger[metadataKey: "token"] = "t"
        logger[metadataKey: "b"] = "old"
        logger.info("x", metadata: ["b": "new", "c": "1"])
        let record = try #require(output.records.last)
        #expect(
            record.fields == [
                LogField("b", .text("new")), LogField("c", .text("1")),
                LogField("token", .text("<redacted>")), LogField("user", .text("<redacted>")),
            ]
        )
    }

    @Test("A provider's metadata is redacted and ranks between the logger's and the statement's")
    func provider() throws {
        let provider = Logger.MetadataProvider { ["a": "provided", "b": "provided", "pin": "1"] }
        var handler = OutputLogHandler(label: "test", output: output, metadataProvider: provider)
        handler.metadata = ["a": "logger"]
        let logger = Logger(label: "test") { [handler] _ in handler }
        logger.info("x", metadata: ["b": "statement"])
        let record = try #require(output.records.last)
        #expect(record["a"] == .text("provided"))
        #expect(record["b"] == .text("statement"))
        #expect(record["pin"] == .text("<redacted>"))
    }

    @Test("Names are sorted and unique, however many there are", arguments: [3, 31, 200])
    func order(count: Int) throws {
        let metadata = Dictionary(
            uniqueKeysWithValues: (0..<count).map {
                ("key \($0 * 7919 % count)", Logger.MetadataValue.string("\($0)"))
            }
        )
        let record = try record { $0.info("x", metadata: metadata) }
        #expect(record.fields.map(\.name) == metadata.keys.sorted())
    }

    @Test("Remembered verdicts never change the result")
    func memory() throws {
        let logger = logger(to: output)
        for round in 0..<3 {
            for number in 0..<600 {
                logger.info(
                    "step \(number % 300)",
                    metadata: [
                        "key\(number)": "v\(number)", "pin": "12", "mail": "a\(number)@b.cd",
                    ]
                )
                let record = try #require(output.records.last)
                #expect(record["key\(number)"] == .text("v\(number)"), "round \(round)")
                #expect(record["pin"] == .text("<redacted>"))
                #expect(record["mail"] == .text("<redacted>"))
            }
        }
    }

    @Test("Long texts are truncated between characters, after redaction")
    func cutting() throws {
        let recorder = LogRecorder(textByteLimit: 100)
        logger(to: output, recorder: recorder).info(
            "\(String(repeating: "é", count: 80))",
            metadata: ["a": "\(String(repeating: "x", count: 92)) ada@example.org"]
        )
        let record = try #require(output.records.last)
        #expect(record.message.utf8.count <= 100)
        #expect(record.message.hasSuffix("é…"))
        guard case .text(let text) = record["a"] else { return fail("no text") }
        #expect(!text.contains("ada"))
        #expect(text.utf8.count <= 100)
    }

    @Test("A long value marked as public is truncated even if no other text is long")
    func cuttingPublic() throws {
        let long = String(repeating: "x", count: 200)
        var logger = logger(to: output, recorder: LogRecorder(textByteLimit: 100))
        logger[metadataKey: "a"] = "\(long, sensitivity: .public)"
        logger.info("short", metadata: ["b": "\(long, sensitivity: .public)"])
        let record = try #require(output.records.last)
        let text = LogValue.text(String(repeating: "x", count: 97) + "…")
        #expect(record.fields == [LogField("a", text), LogField("b", text)])
    }

    @Test("Without a redactor everything is written unchanged")
    func noRedactor() throws {
        let recorder = LogRecorder(redactor: nil)
        logger(to: output, recorder: recorder).info(
            "ada@example.org",
            metadata: [
                "token": "t", "name": "\("Ada", sensitivity: .sensitive)",
                "nested": ["name": "\("Ada", sensitivity: .sensitive)"],
            ]
        )
        let record = try #require(output.records.last)
        #expect(record.message == "ada@example.org")
        #expect(record["token"] == .text("t"))
        #expect(record["name"] == .text("Ada"))
        #expect(record["nested"] == .map([LogField("name", .text("Ada"))]))
    }

    @Test("A custom marker replaces values")
    func marker() throws {
        let redactor = Redactor(marker: .correlated { "\($0.count)" })
        let recorder = LogRecorder(redactor: redactor)
        logger(to: output, recorder: recorder).info(
            "ada@example.org",
            metadata: [
                "token": "abc", "name": "\("Ada", sensitivity: .sensitive)",
                "nested": ["name": "\("Ada", sensitivity: .sensitive)"],
            ]
        )
        let record = try #require(output.records.last)
        #expect(record.message == "<redacted:15>")
        #expect(record["token"] == .text("<redacted:3>"))
        #expect(record["name"] == .text("<redacted:3>"))
        #expect(record["nested"] == .map([LogField("name", .text("<redacted:3>"))]))
    }
}

#endif
