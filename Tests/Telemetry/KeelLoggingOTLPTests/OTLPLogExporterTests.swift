#if Logging

import KeelTestSupport
import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelJournal
import KeelLogging
import KeelTestKit
import Logging
import Synchronization
import Testing

@testable import KeelLoggingOTLP

@Suite("Shipping logs to a collector")
struct OTLPLogExporterTests {
    private let files = SimulatedFileSystem()
    private let clock = TestClock()
    private let collector = ScriptedCollector()

    private func journal(_ change: (inout JournalConfiguration) -> Void = { _ in }) throws
        -> Journal
    {
        var configuration = JournalConfiguration()
        change(&configuration)
        return try Journal(at: "/journal", configuration: configuration, files: files)
    }

    private func exporter(
        _ journal: Journal,
        _ change: (inout OTLPLogConfiguration) -> Void = { _ in }
    ) throws -> OTLPLogExporter {
        let url = try #require(URL(string: "http://collector:4318/v1/logs"))
        var configuration = OTLPLogConfiguration(endpoint: url)
        configuration.encoding = .json
        configuration.compresses = false
        configuration.batchCount = 100
        change(&configuration)
        return try OTLPLogExporter(
            journal,
            to: configuration,
            over: collector,
            clock: clock,
            random: SeededRandom(seed: 1)
        )
    }

    private func log(_ numbers: Range<Int>, to journal: Journal) -> OTLPLogOutput {
        let output = OTLPLogOutput(journal)
        let logger = Logger(label: "app") { OTLPLogHandler(label: $0, output: output) }
        for number in numbers { logger.info("record \(number)") }
        return output
    }

    /// Returns a journal with records, and its exporter.
    private func shipping(
        _ numbers: Range<Int>,
        _ change: (inout OTLPLogConfiguration) -> Void = { _ in }
    ) throws -> (journal: Journal, exporter: OTLPLogExporter) {
        let journal = try journal()
        _ = log(numbers, to: journal)
        return (journal, try exporter(journal, change))
    }

    private func expected(_ numbers: Range<Int>) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: numbers.map { ("record \($0)", 1) })
    }

    @Test("Logged records arrive once, in batches, and leave no backlog")
    func plain() async throws {
        let journal = try journal()
        let output = log(0..<250, to: journal)
        let exporter = try exporter(journal) { $0.headers = ["Authorization": "Bearer x"] }
        #expect(await exporter.flush())
        #expect(collector.bodies == expected(0..<250))
        #expect(collector.requestCount == 3)
        #expect(exporter.statistics.delivered == 250)
        #expect(try exporter.pendingCount() == 0)
        #expect(output.statistics.written == 250)
        let head = try #require(collector.state.withLock { $0.requests.first?.head })
        #expect(head.method == .post)
        #expect(head.authority == "collector:4318")
        #expect(head.path == "/v1/logs")
        #expect(head.headerFields[.contentType] == "application/json")
        #expect(head.headerFields[.authorization] == "Bearer x")
        #expect(await exporter.flush())
        #expect(collector.requestCount == 3)
    }

    @Test("A collector that is away for an hour receives every record once")
    func hourAway() async throws {
        let (journal, exporter) = try shipping(0..<300)
        collector.behave([], then: .isAway)
        let running = Task { await exporter.run() }
        var passed = Duration.zero
        while passed < .seconds(3600) {
            await clock.advance(by: .seconds(30), onceAsleep: 1)
            passed += .seconds(30)
        }
        _ = log(300..<400, to: journal)
        // Full jitter from one second, doubling to five minutes: a few dozen attempts per hour.
        #expect((12...120).contains(collector.requestCount))
        #expect(exporter.statistics.delivered == 0)
        #expect(exporter.statistics.lastFailure == "connectionRefused")
        collector.behave([])
        try await waitUntil {
            await clock.advance(by: .seconds(30), onceAsleep: 1)
            return exporter.statistics.delivered >= 400
        }
        running.cancel()
        await running.value
        #expect(collector.bodies == expected(0..<400))
        #expect(collector.arrivals.allSatisfy { $0 == 1 })
        #expect(exporter.statistics.lastFailure == nil)
    }

    @Test("After a lost response the same ids are sent again, and each record counts once")
    func lostReplies() async throws {
        let exporter = try shipping(0..<100).exporter
        collector.behave([.losesReply, .losesReply])
        #expect(await !exporter.flush())
        #expect(await !exporter.flush())
        #expect(await exporter.flush())
        #expect(collector.bodies == expected(0..<100))
        #expect(collector.arrivals.allSatisfy { $0 == 3 })
        #expect(exporter.statistics.delivered == 100)
    }

    @Test("After a restart the same ids are sent, and nothing is lost")
    func restart() async throws {
        do {
            let exporter = try shipping(0..<50).exporter
            collector.behave([.losesReply])
            #expect(await !exporter.flush())
        }
        let left = try journal()
        _ = log(50..<60, to: left)
        #expect(await (try exporter(left)).flush())
        #expect(collector.bodies == expected(0..<60))
    }

    @Test("The exporter waits as long as the collector asks", arguments: [429, 502, 503, 504])
    func retryAfter(status: Int) async throws {
        let exporter = try shipping(0..<10).exporter
        collector.behave([.answers(status, [.retryAfter: "120"])])
        #expect(await !exporter.flush())
        await clock.advance(by: .seconds(119))
        #expect(await !exporter.flush())
        #expect(collector.requestCount == 1)
        await clock.advance(by: .seconds(2))
        #expect(await exporter.flush())
        #expect(collector.bodies == expected(0..<10))
    }

    @Test("Records rejected in a partial success are final and counted")
    func partialSuccess() async throws {
        let exporter = try shipping(0..<10).exporter
        collector.behave([.refuses(3)])
        #expect(await exporter.flush())
        #expect(exporter.statistics.delivered == 7)
        #expect(exporter.statistics.rejected == 3)
        #expect(try exporter.pendingCount() == 0)
        #expect(collector.requestCount == 1)
    }

    @Test("One bad record in 500 loses only itself", arguments: [400, 413, 422])
    func poison(status: Int) async throws {
        let exporter = try shipping(0..<500) { $0.batchCount = 500 }.exporter
        collector.rule { records in
            records.contains { $0.body == "record 321" } ? .answers(status) : nil
        }
        #expect(await exporter.flush())
        #expect(collector.bodies == expected(0..<500).filter { $0.key != "record 321" })
        #expect(exporter.statistics.delivered == 499)
        #expect(exporter.statistics.rejected == 1)
        #expect(collector.requestCount <= 20)
    }

    @Test("After a journal failure, records are read again")
    func failingJournal() async throws {
        let journal = try journal()
        _ = log(0..<3, to: journal)
        try journal.append([9])
        let exporter = try exporter(journal)
        files.fail { call in
            if case .rename = call { FileSystemError.inputOutput } else { nil }
        }
        #expect(await !exporter.flush())
        #expect(exporter.statistics.lastFailure?.contains("journal") == true)
        files.fail(nil)
        #expect(await exporter.flush())
        #expect(collector.bodies == expected(0..<3))
        #expect(exporter.statistics.delivered == 3 && exporter.statistics.undecodable == 1)
        #expect(try exporter.pendingCount() == 0)
    }

    @Test("Records that the collector accepted count even if the journal could not be updated")
    func unwrittenSettling() async throws {
        let exporter = try shipping(0..<3).exporter
        files.fail { call in
            if case .rename = call { FileSystemError.inputOutput } else { nil }
        }
        #expect(await !exporter.flush())
        files.fail(nil)
        #expect(await exporter.flush())
        #expect(exporter.statistics.delivered == 3)
        #expect(collector.arrivals.allSatisfy { $0 == 1 })
    }

    @Test("Requests that are too large are split until they fit")
    func tooLarge() async throws {
        let exporter = try shipping(0..<100).exporter
        collector.rule { $0.count > 15 ? .answers(413) : nil }
        #expect(await exporter.flush())
        #expect(collector.bodies == expected(0..<100))
        #expect(exporter.statistics.rejected == 0)
    }

    @Test(
        "Wrong credentials and a wrong address hold records back",
        arguments: [301, 401, 403, 404]
    )
    func misdirected(status: Int) async throws {
        let exporter = try shipping(0..<10).exporter
        collector.behave([.answers(status)])
        #expect(await !exporter.flush())
        #expect(exporter.statistics.lastFailure == "status \(status)")
        #expect(try exporter.pendingCount() == 10)
        #expect(await exporter.flush())
        #expect(collector.bodies == expected(0..<10))
    }

    @Test("An undecodable record in the journal loses only itself")
    func undecodable() async throws {
        let journal = try journal()
        _ = log(0..<2, to: journal)
        for bytes in [[], [9], [1], [1, 200, 1], [1, 0, 0x0A, 50]] as [[UInt8]] {
            try journal.append(bytes)
        }
        _ = log(2..<4, to: journal)
        let exporter = try exporter(journal) { $0.batchCount = 2 }
        #expect(await exporter.flush())
        #expect(collector.bodies == expected(0..<4))
        #expect(exporter.statistics.undecodable == 5)
        #expect(try exporter.pendingCount() == 0)
    }

    @Test("Records dropped by the journal's limits are reported in their place and counted")
    func journalBounds() async throws {
        let journal = try journal { $0.byteLimit = 64 << 10 }
        let exporter = try exporter(journal)
        _ = log(0..<1000, to: journal)
        #expect(await exporter.flush())
        let lost = exporter.statistics.lost
        #expect(lost > 100)
        var bodies = collector.bodies
        let told = "dropped \(lost) log records: the journal was full before they were shipped"
        #expect(bodies.removeValue(forKey: told) == 1)
        #expect(bodies == expected(lost..<1000))
        #expect(exporter.statistics.delivered == 1000 - lost)
    }

    @Test("Records lost before a restart are reported after it, once")
    func lossBeforeRestart() async throws {
        do {
            let journal = try journal { $0.byteLimit = 64 << 10 }
            let exporter = try exporter(journal)
            _ = log(0..<1000, to: journal)
            collector.behave([.isAway])
            #expect(await !exporter.flush())
        }
        var lost = 0
        for number in 1000..<1002 {
            let journal = try journal { $0.byteLimit = 64 << 10 }
            _ = log(number..<number + 1, to: journal)
            let exporter = try exporter(journal)
            #expect(await exporter.flush())
            lost = exporter.statistics.lost
        }
        var bodies = collector.bodies
        let told = "dropped \(lost) log records: the journal was full before they were shipped"
        #expect(bodies.removeValue(forKey: told) == 1)
        #expect(bodies == expected(lost..<1002))
    }

    @Test("Records that the journal refuses are dropped, counted and reported later")
    func fullDisk() async throws {
        let journal = try journal()
        let output = log(0..<1, to: journal)
        let logger = Logger(label: "app") { OTLPLogHandler(label: $0, output: output) }
        files.limit(to: files.disk.byteCount)
        logger.error("lost")
        files.limit(to: nil)
        logger.info("next")
        #expect(output.statistics.dropped[.error] == 1)
        #expect(await (try exporter(journal)).flush())
        #expect(
            Set(collector.bodies.keys) == [
                "record 0", "dropped 1 log records: the journal could not be written", "next",
            ]
        )
    }

    @Test("Of two threads that can write again, one reports the dropped records")
    func fullDiskOfThreads() async throws {
        let other = Mutex<Logger?>(nil)
        var configuration = JournalConfiguration()
        // The other thread writes while the first one does.
        configuration.now = {
            let logger = other.withLock { $0.take() }
            logger?.info("record 2")
            return 1_000_000
        }
        let journal = try Journal(at: "/journal", configuration: configuration, files: files)
        let output = log(0..<1, to: journal)
        let logger = Logger(label: "app") { OTLPLogHandler(label: $0, output: output) }
        files.limit(to: files.disk.byteCount)
        logger.error("lost")
        files.limit(to: nil)
        other.withLock { $0 = logger }
        logger.info("record 1")
        #expect(await (try exporter(journal)).flush())
        var bodies = collector.bodies
        let told = "dropped 1 log records: the journal could not be written"
        #expect(bodies.removeValue(forKey: told) == 1)
        #expect(bodies == expected(0..<3))
    }

    @Test("A critical record is on disk when its call returns")
    func critical() throws {
        let journal = try journal()
        let output = log(0..<3, to: journal)
        func syncs() -> Int { files.steps.count { if case .sync = $0 { true } else { false } } }
        let before = syncs()
        let logger = Logger(label: "app") { OTLPLogHandler(label: $0, output: output) }
        logger.logFatal("the last words")
        #expect(syncs() == before + 1)
    }

    @Test("An invalid configuration is rejected at once")
    func configuration() throws {
        let journal = try journal()
        for text in ["ftp://host/v1/logs", "/v1/logs", "http:///v1/logs"] {
            let url = try #require(URL(string: text))
            let error = #expect(throws: LoggingError.self) {
                _ = try exporter(journal) { $0.endpoint = url }
            }
            #expect(error?.code == .invalidArgument, "\(text)")
        }
        expectError(LoggingError.self, .invalidArgument) {
            _ = try exporter(journal) { $0.headers = ["not a name": "x"] }
        }
    }

    @Test("A second exporter of a journal ships once the first has ended")
    func takesOver() async throws {
        let journal = try journal()
        _ = log(0..<5, to: journal)
        var first: OTLPLogExporter? = try exporter(journal)
        let second = try exporter(journal)
        #expect(await !second.flush())
        #expect(second.statistics.requests == 0)
        let error = #expect(throws: JournalError.self) { try second.pendingCount() }
        #expect(error?.code == .consumerInUse)
        #expect(try first?.pendingCount() == 5)
        first = nil
        #expect(await second.flush())
        #expect(second.statistics.delivered == 5)
        #expect(try second.pendingCount() == 0)
    }

    @Test("An exporter that cannot take over reports the reason")
    func reportsWhyItWaits() async throws {
        let journal = try journal()
        _ = log(0..<5, to: journal)
        var first: OTLPLogExporter? = try exporter(journal)
        let second = try exporter(journal)
        #expect(await !second.flush())
        #expect(second.statistics.lastFailure == nil)
        #expect(try first?.pendingCount() == 5)
        first = nil
        files.fail { call in
            if case .lock = call { FileSystemError.notPermitted } else { nil }
        }
        #expect(await !second.flush())
        #expect(second.statistics.lastFailure != nil)
        files.fail(nil)
        #expect(await second.flush())
        #expect(second.statistics.lastFailure == nil)
    }

    @Test("Counts continue after a restart, and account for every record")
    func lasting() async throws {
        do {
            let journal = try journal()
            _ = log(0..<10, to: journal)
            try journal.append([9])
            let exporter = try exporter(journal)
            collector.behave([.refuses(3)])
            #expect(await exporter.flush())
        }
        let journal = try journal()
        let exporter = try exporter(journal)
        _ = log(10..<12, to: journal)
        var statistics = exporter.statistics
        #expect((statistics.delivered, statistics.rejected) == (7, 3))
        #expect(statistics.undecodable == 1 && statistics.requests == 0)
        #expect(try exporter.pendingCount() == 2)
        #expect(await exporter.flush())
        statistics = exporter.statistics
        #expect((statistics.delivered, statistics.rejected) == (9, 3))
    }

    @Test("A transport that cancels requests does not end the shipping")
    func cancelledRequest() async throws {
        let exporter = try shipping(0..<10).exporter
        collector.behave([.fails(.cancelled)])
        let running = Task { await exporter.run() }
        try await waitUntil {
            await clock.advance(by: .seconds(30), onceAsleep: 1)
            return exporter.statistics.delivered == 10
        }
        running.cancel()
        await running.value
    }

    @Test("A report of lost records that the collector refuses holds no record back")
    func refusedReport() async throws {
        let journal = try journal { $0.byteLimit = 64 << 10 }
        let exporter = try exporter(journal)
        collector.rule { records in
            records.contains { $0.body.hasPrefix("dropped") } ? .answers(400) : nil
        }
        _ = log(0..<1000, to: journal)
        try await waitUntil {
            if await exporter.flush() { return true }
            await clock.advance(by: .seconds(60))
            return false
        }
        let lost = exporter.statistics.lost
        #expect(lost > 100 && collector.bodies == expected(lost..<1000))
        #expect(exporter.statistics.rejected == 0)
    }
}

#endif
