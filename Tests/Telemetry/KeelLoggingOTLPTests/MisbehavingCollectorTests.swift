#if Logging

import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelJournal
import KeelLogging
import KeelTestKit
import KeelTestSupport
import Logging
import Synchronization
import Testing

@testable import KeelLoggingOTLP

/// Collectors that refuse, fail and stall for hours, and then recover.
@Suite("Misbehaving collectors", .timeLimit(.minutes(10)))
struct MisbehavingCollectorTests {
    private static let recordCount = 60

    /// An exporter that counts its requests per minute.
    private struct Scene {
        let clock = TestClock()
        let collector = ScriptedCollector()
        let exporter: OTLPLogExporter
        private let times = Times()

        init(_ behavior: ScriptedCollector.Behavior) throws {
            let journal = try Journal(
                at: "/journal",
                configuration: JournalConfiguration(),
                files: SimulatedFileSystem()
            )
            let output = OTLPLogOutput(journal)
            let logger = Logger(label: "app") { OTLPLogHandler(label: $0, output: output) }
            for number in 0..<recordCount { logger.info("record \(number)") }
            let url = try #require(URL(string: "http://collector:4318/v1/logs"))
            var configuration = OTLPLogConfiguration(endpoint: url)
            configuration.encoding = .json
            configuration.compresses = false
            configuration.batchCount = 16
            exporter = try OTLPLogExporter(
                journal,
                to: configuration,
                over: collector,
                clock: clock,
                random: SeededRandom(seed: 7)
            )
            collector.rule { [clock, times] _ in
                times.add(clock.elapsed)
                return times.isHealthy ? nil : behavior
            }
        }

        /// Ships as `run()` does, until everything is delivered or the time is over.
        ///
        /// The clock advances during a request only if answers stall; otherwise requests that are
        /// merely slow to compute would exceed their timeouts.
        func ship(for duration: Duration, dawdles: Bool = false) async throws {
            let end = clock.elapsed + duration
            while clock.elapsed < end {
                let outcome =
                    dawdles
                    ? try await clock.run { [exporter] in
                        await exporter.deliver()
                    }
                    : await exporter.deliver()
                guard case .paused(let pause)? = outcome else { return }
                await clock.advance(by: max(pause, .milliseconds(1)))
            }
        }

        func heal() { times.heal() }

        /// The maximum number of requests in any minute.
        var mostInAMinute: Int { times.most(in: .seconds(60)) }

        func expectEverythingArrived() throws {
            let statistics = exporter.statistics
            let count = recordCount
            #expect(statistics.delivered == count && statistics.rejected == 0)
            #expect(statistics.lost == 0 && statistics.undecodable == 0)
            #expect(try exporter.pendingCount() == 0)
            #expect(collector.bodies.count == count)
        }
    }

    private final class Times: Sendable {
        private let state = Mutex((times: [Duration](), isHealthy: false))

        var isHealthy: Bool { state.withLock { $0.isHealthy } }
        func heal() { state.withLock { $0.isHealthy = true } }
        func add(_ time: Duration) { state.withLock { $0.times.append(time) } }

        func most(in window: Duration) -> Int {
            let times = state.withLock { $0.times }
            return times.map { start in times.count { $0 >= start && $0 - start < window } }.max()
                ?? 0
        }
    }

    /// The failures whose handling differs, and every tenth; all in a thorough run.
    private static let statuses = (400...599).filter { status in
        TestLength.isThorough || status.isMultiple(of: 10)
            || [401, 403, 404, 408, 413, 421, 422, 425, 429, 499, 503, 504].contains(status)
    }

    @Test(
        "A failing collector is rarely asked for two hours and receives everything after its recovery"
    )
    func statuses() async throws {
        for status in Self.statuses {
            let scene = try Scene(.answers(status))
            try await scene.ship(for: .seconds(7200))
            #expect(scene.collector.bodies.isEmpty)
            #expect(try scene.exporter.pendingCount() == Self.recordCount, "status \(status)")
            #expect(scene.exporter.statistics.rejected == 0, "status \(status)")
            #expect(scene.mostInAMinute <= 40, "status \(status): \(scene.mostInAMinute)")
            #expect(scene.exporter.statistics.requests < 2500, "status \(status)")
            #expect(scene.exporter.statistics.lastFailure?.contains("\(status)") == true)
            scene.heal()
            try await scene.ship(for: .seconds(3600))
            try scene.expectEverythingArrived()
        }
    }

    @Test("An unreachable or resetting collector is rarely asked")
    func resets() async throws {
        for behavior in [ScriptedCollector.Behavior.isAway, .losesReply] {
            let scene = try Scene(behavior)
            try await scene.ship(for: .seconds(7200))
            #expect(scene.exporter.statistics.delivered == 0)
            #expect(scene.mostInAMinute <= 40)
            scene.heal()
            try await scene.ship(for: .seconds(3600))
            try scene.expectEverythingArrived()
        }
    }

    @Test("Slow and endless responses hold nothing up")
    func endlessAnswers() async throws {
        for status in [200, 400, 503] {
            for pause in [Duration.seconds(1), .zero] {
                let clock = Mutex<TestClock?>(nil)
                let scene = try Scene(
                    .replies {
                        let clock = clock.withLock { $0 } ?? TestClock()
                        return HTTPReply(
                            head: HTTPResponse(status: .init(code: status)),
                            body: .endless(pause, on: clock)
                        )
                    }
                )
                clock.withLock { $0 = scene.clock }
                try await scene.ship(for: .seconds(1800), dawdles: true)
                #expect(scene.mostInAMinute <= 40)
                if status == 200 {
                    // Accepted records stay accepted, however long the answer is.
                    try scene.expectEverythingArrived()
                    #expect(scene.clock.elapsed <= .seconds(60))
                } else {
                    #expect(try scene.exporter.pendingCount() == Self.recordCount)
                }
            }
        }
    }

    @Test(
        "A collector that accepts part of the records causes no loss of others",
        arguments: [400, 413, 500]
    )
    func moody(status: Int) async throws {
        let random = Mutex(SeededRandom(seed: UInt64(status)))
        let scene = try Scene(.takes)
        scene.collector.rule { records in
            let isRefused = random.withLock { Int.random(in: 0..<3, using: &$0) == 0 }
            // A real refusal is repeated.
            if records.contains(where: { $0.body == "record 17" }) { return .answers(400) }
            return isRefused && records.count > 1 ? .answers(status) : nil
        }
        for _ in 0..<200 where try scene.exporter.pendingCount() > 0 {
            try await scene.ship(for: .seconds(600))
        }
        let statistics = scene.exporter.statistics
        #expect(statistics.delivered == Self.recordCount - 1 && statistics.rejected == 1)
        #expect(scene.collector.bodies["record 17"] == nil)
        #expect(scene.collector.bodies.count == Self.recordCount - 1)
    }
}

#endif
