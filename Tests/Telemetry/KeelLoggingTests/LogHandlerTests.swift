#if Logging

import Foundation
import KeelCore
import KeelTestKit
import KeelTestSupport
import Logging
import Testing

@testable import KeelLogging

@Suite("Handlers for swift-log")
struct LogHandlerTests {
    private let output = MemoryLogOutput()

    @Test("A logger's level and metadata do not affect another logger")
    func values() {
        let first = logger(to: output)
        var second = first
        second.logLevel = .error
        second[metadataKey: "only"] = "second"
        #expect(first.logLevel == .trace)
        #expect(first[metadataKey: "only"] == nil)
        #expect(second[metadataKey: "only"] == "second")
        first.info("a")
        second.info("b")
        second.error("c")
        #expect(output.records.map(\.message) == ["a", "c"])
        #expect(output.records.last?["only"] == .text("second"))
    }

    @Test("Only a critical record is synchronized")
    func critical() {
        let logger = logger(to: output)
        for level in Logger.Level.allCases { logger.log(level: level, "x") }
        #expect(output.synchronizedCount == 1)
    }

    @Test("The convenience methods log with level, place and error")
    func words() throws {
        struct Failure: Error, CustomStringConvertible { let description = "no route" }
        let logger = logger(to: output)
        let first: UInt = #line + 1
        logger.logDebug("a")
        logger.logInfo("b", metadata: ["page": "1"])
        logger.logWarning("c")
        logger.logError("d", error: Failure())
        logger.logFatal("e", error: Failure())
        let records = output.records
        #expect(records.map(\.level) == [.debug, .info, .warning, .error, .critical])
        #expect(records.map(\.line) == (0..<5).map { first + $0 })
        #expect(records.allSatisfy { $0.file == "KeelLoggingTests/LogHandlerTests.swift" })
        #expect(records.allSatisfy { $0.function == "words()" })
        #expect(records[1]["page"] == .text("1"))
        #expect(records[3]["error.message"] == .text("no route"))
        #expect(records[4]["error.message"] == .text("no route"))
    }

    @Test("Free functions log to the task's logger, with the place of the call")
    func freeFunctions() {
        withLogger(logger(to: output)) { _ in
            logDebug("a")
            logInfo("b")
            logWarning("c")
            logError("d")
            logFatal("e")
        }
        #expect(output.records.map(\.message) == ["a", "b", "c", "d", "e"])
        #expect(output.records.map(\.level) == [.debug, .info, .warning, .error, .critical])
        #expect(output.records.allSatisfy { $0.function == "freeFunctions()" })
        #expect(output.records.allSatisfy { $0.source == "KeelLoggingTests" })
    }

    @Test("A message below the level is not evaluated")
    func lazy() {
        var logger = logger(to: output)
        logger.logLevel = .warning
        func costly() -> String {
            Issue.record("the message was made")
            return ""
        }
        logger.logInfo(costly())
        #expect(output.records.isEmpty)
    }

    @Test("Handlers work in swift-log's multiplexer, each with its own level")
    func multiplex() {
        let other = MemoryLogOutput()
        let logger = Logger(label: "x") { label in
            MultiplexLogHandler([
                OutputLogHandler(label: label, output: output, level: .debug),
                OutputLogHandler(label: label, output: other, level: .error),
            ])
        }
        logger.info("a")
        logger.logFatal("b")
        #expect(output.records.map(\.message) == ["a", "b"])
        #expect(other.records.map(\.message) == ["b"])
        #expect(output.synchronizedCount == 1)
        #expect(other.synchronizedCount == 1)
    }

    // MARK: Presets

    @Test("The development preset writes everything from debug on to the console")
    func development() throws {
        let pipe = Pipe()
        let console = ConsoleLogOutput(
            descriptor: pipe.fileHandleForWriting.fileDescriptor,
            format: nil
        )
        let factory = LoggingPreset.development(output: console)
        let logger = Logger(label: "app", factory: factory)
        logger.trace("not this")
        logger.logDebug("hello ada@example.org")
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(text.contains(#""level":"debug","label":"app","message":"hello <redacted>""#))
        #expect(text.filter { $0 == "\n" }.count == 1)
        #expect(console.statistics.written == 1)
    }

    @Test("The development preset writes to the console and to the shipping output")
    func shippedDevelopment() throws {
        let pipe = Pipe()
        let console = ConsoleLogOutput(
            descriptor: pipe.fileHandleForWriting.fileDescriptor,
            format: nil
        )
        let factory = LoggingPreset.development(output: console, shipping: output)
        let logger = Logger(label: "app", factory: factory)
        logger.trace("not this")
        logger.logDebug("one")
        logger.logFatal("two")
        try pipe.fileHandleForWriting.close()
        let lines = pipe.fileHandleForReading.readDataToEndOfFile()
        #expect(try LoggedLines.messages([Array(lines)]) == ["one", "two"])
        #expect(output.records.map(\.message) == ["one", "two"])
        #expect(output.synchronizedCount == 1)
    }

    @Test("The production preset writes from info on to the file and to the shipping output")
    func production() throws {
        let folder = URL.temporaryDirectory.appending(path: "keel-log-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "app.log")
        let factory = try LoggingPreset.production(at: url, shipping: output)
        let logger = Logger(label: "app", factory: factory)
        logger.logDebug("not this")
        logger.logInfo("one")
        logger.logFatal("two")
        let lines = try Data(contentsOf: url)
        #expect(try LoggedLines.messages([Array(lines)]) == ["one", "two"])
        #expect(output.records.map(\.message) == ["one", "two"])
        #expect(output.synchronizedCount == 1)
    }

    @Test("A console that cannot be written drops and counts records without stopping the app")
    func deadConsole() throws {
        let file = try #require(FileHandle(forReadingAtPath: "/dev/null"))
        let console = ConsoleLogOutput(descriptor: file.fileDescriptor, format: .jsonLines)
        console.write(.sample(level: .error))
        #expect(console.statistics.dropped[.error] == 1)
        #expect(console.statistics.written == 0)
    }

    @Test("A line that a console cannot finish is ended before the next record")
    func tornLine() throws {
        let pipe = Pipe()
        let (reading, writing) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
        let result = fcntl(writing.fileDescriptor, F_SETFL, O_NONBLOCK)
        try #require(result == 0)
        let console = ConsoleLogOutput(descriptor: writing.fileDescriptor, format: .jsonLines)
        // More than a pipe holds: the console waits a second for the reader.
        console.write(.sample(String(repeating: "x", count: 2 << 20)))
        #expect(console.statistics.dropped[.info] == 1)
        let begin = reading.availableData
        console.write(.sample("next"))
        try writing.close()
        let rest = try #require(try reading.readToEnd())
        let lines = (begin + rest).split(separator: UInt8(ascii: "\n"))
        let messages = lines.map { LogRecord(jsonLine: $0)?.message ?? "torn" }
        let told = "dropped 1 log records: the console could not be written"
        #expect(messages == ["torn", told, "next"])
    }

    // MARK: Sampling

    @Test("Of a repeated statement the first records pass, then every nth, which reports the gap")
    func sampling() {
        let time = MutableTime(0)
        var rule = LogSampling()
        rule.first = 3
        rule.thereafter = 5
        let sampler = LogSampler(rule) { time.now }
        let logger = Logger(label: "x") {
            OutputLogHandler(label: $0, output: output, level: .trace).sampled(by: sampler)
        }
        for number in 1...14 { logger.info("\(number)") }
        #expect(output.records.map(\.message) == ["1", "2", "3", "8", "13"])
        #expect(output.records[3]["log.sampled"] == .text("4"))
        #expect(output.records[2]["log.sampled"] == nil)
        #expect(sampler.suppressedCount == 9)
        for _ in 0..<20 { logger.warning("serious") }
        #expect(output.records.count { $0.level == .warning } == 20)
        logger.info("another statement")
        #expect(output.records.last?.message == "another statement")
        time.advance(by: 1_000_000)
        for number in 1...4 { logger.info("again \(number)") }
        #expect(output.records.suffix(3).map(\.message) == ["again 1", "again 2", "again 3"])
    }

    @Test("A clock that is years ahead for a while suppresses no records afterwards")
    func samplingAfterClockLeap() {
        let time = MutableTime(0)
        var rule = LogSampling()
        rule.first = 1
        rule.thereafter = 0
        let sampler = LogSampler(rule) { time.now }
        let logger = Logger(label: "x") {
            OutputLogHandler(label: $0, output: output, level: .trace).sampled(by: sampler)
        }
        let years: Int64 = 3 * 365 * 86_400 * 1_000_000
        for leap in [years, -years] {
            time.advance(by: leap)
            for number in 1...2 { logger.info("\(number) after \(leap)") }
        }
        #expect(output.records.map(\.message) == ["1 after \(years)", "1 after \(-years)"])
    }

    @Test("A sampled handler passes level, metadata and provider through")
    func samplingPassesThrough() {
        let sampler = LogSampler()
        var handler = OutputLogHandler(label: "x", output: output).sampled(by: sampler)
        handler.logLevel = .error
        handler.metadata = ["a": "1"]
        handler[metadataKey: "b"] = "2"
        handler.metadataProvider = .init { ["c": "3"] }
        #expect(handler.logLevel == .error)
        #expect(handler[metadataKey: "a"] == "1")
        #expect(handler.metadata == ["a": "1", "b": "2"])
        #expect(handler.metadataProvider?.get() == ["c": "3"])
        let logger = Logger(label: "x") { [handler] _ in handler }
        logger.error("e")
        #expect(output.records.last?.fields.map(\.name) == ["a", "b", "c"])
    }

    // MARK: Errors

    @Test("Every code has a unique name and advice", arguments: LoggingError.Code.known)
    func codes(code: LoggingError.Code) {
        #expect(LoggingError.Code.known.count { $0.name == code.name } == 1)
        #expect(code.advice.hasSuffix(".") && code.advice.count > 20)
        let error = LoggingError(code, "Something happened", cause: CancellationError())
        #expect(error.recoverySuggestion == code.advice)
        #expect(error.errorDescription == "Something happened")
        #expect(error.description.hasPrefix("\(code.name): Something happened"))
        #expect(error.isCancellation == (code == .cancelled))
    }
}

#endif
