#if canImport(Glibc)
import KeelCore
import KeelLocation
import KeelTestKit
import Testing

@Suite("gpsd adapter with a test double", .timeLimit(.minutes(2)))
struct GPSDLocationAdapterTests {
    @Test("The adapter requests JSON reports, from a single receiver if one is named")
    func handshake() async throws {
        let double = try GPSDDouble()
        let reports = Reports()
        let adapter = double.adapter(device: "/dev/ttyS7", clock: TestClock())
        let end = adapter.monitor(.init(), report: reports.take)
        await reports.wait { $0 == ["searching"] }
        #expect(
            double.requests == [
                #"?WATCH={"device":"/dev/ttyS7","enable":true,"json":true};"# + "\n"
            ]
        )
        double.send(try fix(1, 2), device: "/dev/other")
        double.send(try fix(1, 3))
        await reports.wait { $0.contains("fix") }
        #expect(try reports.fixes == [fix(1, 3)])
        end()
        try await waitUntil { double.clientCount == 0 }
    }

    @Test("Malformed and endless lines are skipped and counted, and reports continue")
    func malformed() async throws {
        let double = try GPSDDouble()
        let adapter = double.adapter(clock: TestClock())
        let reports = Reports()
        let end = adapter.monitor(.init(), report: reports.take)
        await reports.wait { $0 == ["searching"] }
        double.send("no JSON")
        double.send(#"{"class":"TPV","mode":3,"lat":91.0,"lon":0.0}"#)
        double.send(String(repeating: "x", count: 3 * GPSDLocationAdapter.maximumLineByteCount))
        double.send(#"{"class":"SKY","satellites":[]}"#)
        double.send(try fix(1, 2))
        await reports.wait { $0 == ["searching", "fix"] }
        // The greeting and two answers came first.
        let statistics = adapter.statistics
        #expect(statistics.connectionCount == 1)
        #expect(statistics.lineCount == 8)
        #expect(statistics.malformedLineCount == 2)
        #expect(statistics.oversizedLineCount == 1)
        end()
    }

    @Test("Another protocol version is unsupported and not retried")
    func version() async throws {
        let double = try GPSDDouble(.init(protocolMajor: 4))
        let reports = Reports()
        let end = double.adapter(clock: TestClock()).monitor(.init(), report: reports.take)
        await reports.wait { $0 == ["unsupported"] }
        try await waitUntil { double.clientCount == 0 }
        #expect(double.connectionCount == 1)
        end()
    }

    @Test("A gpsd without a receiver is unavailable")
    func noDevice() async throws {
        let double = try GPSDDouble(.init(devices: []))
        let reports = Reports()
        let end = double.adapter(clock: TestClock()).monitor(.init(), report: reports.take)
        await reports.wait { $0 == ["unavailable"] }
        double.send(try fix(1, 2))
        await reports.wait { $0 == ["unavailable", "fix"] }
        end()
        let other = Reports()
        let gone = double.adapter(device: "/dev/gone", clock: TestClock())
        let endOther = gone.monitor(.init(), report: other.take)
        await other.wait { $0 == ["unavailable"] }
        #expect(other.failures.first?.message.contains("/dev/gone") == true)
        endOther()
    }

    @Test("A receiver that was unplugged does not hide that the others have no fix")
    func unplugged() async throws {
        let double = try GPSDDouble(.init(devices: ["/dev/ttyS7", "/dev/ttyS8"]))
        let reports = Reports()
        let end = double.adapter(clock: TestClock()).monitor(.init(), report: reports.take)
        await reports.wait { $0 == ["searching"] }
        double.send(try fix(1, 2), device: "/dev/ttyS8")
        double.sendNoFix()
        double.send(#"{"class":"DEVICE","path":"/dev/ttyS8","activated":0}"#)
        await reports.wait { $0 == ["searching", "fix", "searching"] }
        // Closing one without a fix changes nothing.
        double.send(#"{"class":"DEVICE","path":"/dev/ttyS7","activated":0}"#)
        double.send(try fix(1, 3))
        await reports.wait { $0.count >= 4 }
        #expect(reports.words == ["searching", "fix", "searching", "fix"])
        end()
    }

    @Test("A refusal to report is passed on and retried")
    func refusal() async throws {
        let double = try GPSDDouble(.init(refusal: "no such device"))
        let reports = Reports()
        let end = double.adapter().monitor(.init(), report: reports.take)
        await reports.wait { $0.count >= 2 }
        #expect(reports.failures.allSatisfy { $0.code == .unavailable })
        #expect(reports.failures.first?.message.contains("no such device") == true)
        end()
    }

    @Test("Without a listening gpsd the adapter is disconnected, and it connects when one listens")
    func absent() async throws {
        let double = try GPSDDouble()
        double.stop()
        let reports = Reports()
        let end = double.adapter().monitor(.init(), report: reports.take)
        await reports.wait { $0.count >= 3 }
        #expect(reports.failures.allSatisfy { $0.code == .disconnected })
        #expect(reports.failures.first?.description.contains("connect") == true)
        try double.restart()
        await reports.wait { $0.last == "searching" }
        end()
    }

    @Test("An invalid host name is reported as disconnected")
    func resolving() async {
        var configuration = GPSDLocationAdapter.Configuration(host: "no host")
        configuration.reconnection = RetryPolicy(baseDelay: .milliseconds(1))
        let reports = Reports()
        let adapter = GPSDLocationAdapter(configuration)
        let end = adapter.monitor(.init(), report: reports.take)
        await reports.wait { !$0.isEmpty }
        end()
        #expect(reports.failures.first?.code == .disconnected)
        #expect(reports.failures.first?.description.contains("getaddrinfo") == true)
    }

    @Test("A gpsd that sends no greeting is abandoned at the time limit")
    func silentGreeting() async throws {
        let clock = TestClock()
        let double = try GPSDDouble(.init(greets: false))
        let reports = Reports()
        let end = double.adapter(clock: clock).monitor(.init(), report: reports.take)
        try await waitUntil { double.connectionCount == 1 }
        await clock.advance(by: .seconds(5), onceAsleep: 1)
        await reports.wait { $0 == ["disconnected"] }
        #expect(reports.failures.first?.message.contains("greet") == true)
        end()
        try await waitUntil { double.clientCount == 0 }
    }

    @Test("A silent gpsd is polled and abandoned if it does not respond")
    func silence() async throws {
        let clock = TestClock()
        let double = try GPSDDouble(.init(answers: false))
        let reports = Reports()
        let end = double.adapter(clock: clock).monitor(.init(), report: reports.take)
        await reports.wait { $0 == ["searching"] }
        await clock.advance(by: .seconds(5), onceAsleep: 1)
        for turn in 0..<3 {
            await clock.advance(by: .seconds(15), onceAsleep: 1)
            if turn == 0 {
                try await waitUntil { double.requests.contains { $0.contains("?VERSION;") } }
            }
        }
        await reports.wait { $0.last == "disconnected" }
        end()
    }

    @Test("A silent gpsd that responds is kept")
    func quiet() async throws {
        let clock = TestClock()
        let double = try GPSDDouble()
        let adapter = double.adapter(clock: clock)
        let reports = Reports()
        let end = adapter.monitor(.init(), report: reports.take)
        await reports.wait { $0 == ["searching"] }
        await clock.advance(by: .seconds(5), onceAsleep: 1)
        for count in 1...6 {
            // Alternately silent and polled.
            await clock.advance(by: .seconds(15), onceAsleep: 1)
            let lines = 3 + count
            try await waitUntil { adapter.statistics.lineCount == lines }
            await clock.advance(by: .seconds(15), onceAsleep: 1)
        }
        double.send(try fix(1, 2))
        await reports.wait { $0 == ["searching", "fix"] }
        #expect(double.connectionCount == 1)
        end()
    }

    @Test("The pause before reconnecting follows the policy, and ending cuts it short")
    func pauses() async throws {
        let clock = TestClock()
        let double = try GPSDDouble()
        double.stop()
        var configuration = double.configuration()
        configuration.reconnection = RetryPolicy(baseDelay: .seconds(8), maximumDelay: .seconds(8))
        let adapter = GPSDLocationAdapter(configuration, clock: clock)
        let reports = Reports()
        let end = adapter.monitor(.init(), report: reports.take)
        for count in 1...4 {
            // Short delays would fit more than one into the time.
            await reports.wait { $0.count >= count }
            await clock.advance(by: .seconds(8), onceAsleep: 1)
        }
        await reports.wait { $0.count >= 5 }
        await clock.waitForSleepers()
        end()
        try await waitUntil { clock.sleeperCount == 0 }
    }

    @Test("A hundred monitoring sessions leave no connection behind")
    func leaves() async throws {
        let double = try GPSDDouble()
        let adapter = double.adapter()
        for number in 0..<100 {
            let reports = Reports()
            let end = adapter.monitor(.init(), report: reports.take)
            if number.isMultiple(of: 2) { await reports.wait { !$0.isEmpty } }
            end()
        }
        try await waitUntil { double.clientCount == 0 }
        #expect(double.watcherCount == 0)
    }
}
#endif
