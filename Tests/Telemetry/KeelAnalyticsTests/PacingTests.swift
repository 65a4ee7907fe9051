import KeelCore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelAnalytics
@testable import KeelJournal

@Suite("Pacing")
struct PacingTests {
    let bench = Bench()

    /// Advances the clock in steps until a condition holds.
    private func advance(by step: Duration, until condition: () -> Bool) async throws {
        try await waitUntil {
            if condition() { return true }
            await bench.clock.advance(by: step)
            return condition()
        }
    }

    @Test("Offline for a day, it tries at most once in five minutes, and memory use stays flat")
    func offlineForADay() async throws {
        let vendor = ScriptedAnalyticsDestination(
            faults: Array(repeating: .unavailable(), count: 100_000)
        )
        let service = try bench.service(vendor) { $0.deliveryInterval = .seconds(1) }
        let running = Task { await service.run() }
        service.trackEvent("first")
        var calls: [Int] = []
        var most = 0
        for minute in 0..<24 * 60 {
            for _ in 0..<5 { service.trackEvent("a", parameters: ["minute": .integer(minute)]) }
            await bench.clock.advance(by: .seconds(60), onceAsleep: 1)
            bench.time.advance(by: .seconds(60))
            if minute % 60 == 59 { calls.append(vendor.callCount) }
            most = max(most, service.lanes[0].state.withLock { $0.queue.waiting.count })
        }
        running.cancel()
        await running.value
        // The first hour has the growing delays; each later hour has at most twelve attempts.
        #expect(calls[0] <= 22, "\(calls)")
        for (before, after) in zip(calls, calls.dropFirst()) {
            #expect(after - before <= 12, "\(calls)")
        }
        #expect(vendor.callCount > 100, "\(calls)")
        #expect(most <= vendor.limits.records)
        #expect(vendor.batches.allSatisfy { $0.count <= vendor.limits.records })
        vendor.setFaults([])
        #expect(await service.flush())
        #expect(vendor.received.count == 24 * 60 * 5 + 1)
        #expect(vendor.repeatedCount == 0)
        print(
            "a day offline: \(vendor.batches.count - 73) tries, at most \(most) records in memory"
        )
    }

    @Test("Pauses grow with jitter, are never zero, and stay at the maximum once they reach it")
    func backoff() {
        let policy = AnalyticsConfiguration().retry
        for seed in 0..<200 as Range<UInt64> {
            let random = Mutex(SeededRandom(seed: seed))
            for failures in 1...30 {
                let pause = policy.pause(after: failures) { random.withLock { $0.next() } }
                let bound = policy.maximumDelay(before: failures)
                if bound < policy.maximumDelay {
                    #expect(pause >= bound / 10 && pause <= bound)
                } else {
                    #expect(pause >= .seconds(300) && pause <= .seconds(600))
                }
            }
        }
    }

    @Test("A pause that the destination asks for is honored, even by a flush")
    func askedPause() async throws {
        let vendor = ScriptedAnalyticsDestination(faults: [.unavailable(notBefore: .seconds(90))])
        let service = try bench.service(vendor)
        service.trackEvent("a")
        #expect(await service.flush() == false)
        #expect(await service.flush() == false)
        #expect(vendor.callCount == 1)
        await bench.clock.advance(by: .seconds(89))
        #expect(await service.flush() == false)
        await bench.clock.advance(by: .seconds(1))
        #expect(await service.flush())
        #expect(vendor.callCount == 2)
    }

    @Test("A misconfiguration is reported, rarely retried, and loses no event")
    func misconfigured() async throws {
        let vendor = ScriptedAnalyticsDestination(faults: [.misconfigured, .misconfigured])
        let service = try bench.service(vendor) { $0.deliveryInterval = .zero }
        let running = Task { await service.run() }
        service.trackEvent("a")
        try await advance(by: .seconds(1)) { vendor.callCount == 1 }
        await bench.clock.advance(by: .seconds(3500), onceAsleep: 1)
        #expect(vendor.callCount == 1)
        let status = try #require(service.status.destinations["scripted"])
        #expect(status.activity == .misconfigured)
        #expect(status.problem?.status == 401 && status.failures == 1)
        #expect(status.ledger.pending == 1)
        try await advance(by: .seconds(100)) { vendor.received.count == 1 }
        running.cancel()
        await running.value
        #expect(service.status.destinations["scripted"]?.problem == nil)
    }

    @Test("Events accumulate until the interval ends or the threshold is reached")
    func gathering() async throws {
        let vendor = ScriptedAnalyticsDestination()
        let service = try bench.service(vendor) { $0.deliveryThreshold = 1000 }
        let running = Task { await service.run() }
        // Events during a delivery go with it; later ones accumulate. One at a time, since more
        // could accumulate than fit in a batch.
        var count = 0
        try await waitUntil {
            if bench.clock.sleeperCount > 0 { return true }
            if vendor.received.count == count {
                service.trackEvent("a")
                count += 1
            }
            return false
        }
        let calls = vendor.callCount
        await bench.clock.advance(by: .seconds(14))
        for _ in 0..<3 { service.trackEvent("b") }
        #expect(vendor.callCount == calls)
        try await advance(by: .seconds(1)) { vendor.received.count == count + 3 }
        #expect(vendor.callCount == calls + 1)
        running.cancel()
        await running.value
    }

    @Test("Reaching the threshold starts a delivery before the interval ends")
    func threshold() async throws {
        let vendor = ScriptedAnalyticsDestination()
        let service = try bench.service(vendor) { $0.deliveryThreshold = 10 }
        let running = Task { await service.run() }
        // Without any time passing.
        for number in 1...100 {
            service.trackEvent("a")
            if number.isMultiple(of: 10) { try await waitUntil { vendor.received.count >= number } }
        }
        running.cancel()
        await running.value
    }

    @Test("Deliveries that are cancelled at any moment leave a consistent state")
    func cancellation() async throws {
        let vendor = ScriptedAnalyticsDestination(
            limits: BatchLimits(records: 5, bytes: .max),
            clock: bench.clock,
            faults: Array(repeating: .delay(.seconds(10)), count: 3)
        )
        let service = try bench.service(vendor)
        for number in 0..<20 { service.trackEvent("a", parameters: ["number": .integer(number)]) }
        let running = Task { await service.run() }
        try await waitUntil { vendor.callCount != 0 }
        running.cancel()
        await running.value
        #expect(vendor.received.isEmpty)
        #expect(service.status.destinations["scripted"]?.failures == 0)
        #expect(try service.ledgers()["scripted"]?.pending == 20)
        // The limit of a flush cancels a request as well.
        async let flushed = service.flush(upTo: .seconds(5))
        await bench.clock.advance(by: .seconds(5), onceAsleep: 2)
        #expect(await flushed == false)
        vendor.setFaults([])
        #expect(await service.flush())
        #expect(vendor.received.map(\.number) == Array(0..<20))
        #expect(try service.ledgers()["scripted"]?.isBalanced == true)
    }

    @Test("Concurrent runs and flushes deliver each batch once")
    func severalRuns() async throws {
        let vendor = ScriptedAnalyticsDestination(limits: BatchLimits(records: 3, bytes: .max))
        let service = try bench.service(vendor)
        for number in 0..<100 { service.trackEvent("a", parameters: ["number": .integer(number)]) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { await service.flush() } }
        }
        #expect(await service.flush())
        #expect(vendor.received.map(\.number) == Array(0..<100))
        #expect(vendor.repeatedCount == 0 && vendor.peakCount == 1)
    }

    @Test("Delivery continues after a full disk, and the ledger balances")
    func fullDisk() async throws {
        let vendor = ScriptedAnalyticsDestination(limits: BatchLimits(records: 5, bytes: .max))
        let once = ScriptedAnalyticsDestination("once", guarantee: .atMostOnce)
        let service = try bench.service(vendor, once)
        for number in 0..<20 { service.trackEvent("a", parameters: ["number": .integer(number)]) }
        bench.files.fail { call in
            if case .create(let path) = call, path.hasSuffix(".cursor.part") {
                FileSystemError.noSpace
            } else {
                nil
            }
        }
        #expect(await service.flush() == false)
        #expect(once.callCount == 0)
        #expect(service.status.destinations["scripted"]?.problem != nil)
        bench.files.fail(nil)
        for _ in 0..<3 { await service.flush() }
        #expect(await service.flush())
        #expect(Set(vendor.received.map(\.number)) == Set(0..<20))
        #expect(once.received.map(\.number) == Array(0..<20) && once.repeatedCount == 0)
        for ledger in try service.ledgers().values {
            #expect(ledger.isBalanced && ledger.delivered == 20, "\(ledger)")
        }
    }

    @Test("Status updates show each change")
    func statuses() async throws {
        let vendor = ScriptedAnalyticsDestination(faults: [.unavailable()])
        let service = try bench.service(vendor)
        var followed = service.statusUpdates().makeAsyncIterator()
        #expect(await followed.next()?.destinations["scripted"]?.activity == .idle)
        service.trackEvent("a")
        await service.flush()
        let waiting = await followed.next()
        #expect(waiting?.destinations["scripted"]?.activity == .waiting)
        #expect(waiting?.destinations["scripted"]?.failures == 1)
        #expect(waiting?.destinations["scripted"]?.problem?.status == 503)
        #expect(waiting?.destinations["scripted"]?.ledger.pending == 1)
        await service.flush()
        let done = await followed.next()
        #expect(done?.destinations["scripted"]?.ledger.delivered == 1)
        #expect(done?.destinations["scripted"]?.ledger.isBalanced == true)
        try service.denyConsent(for: .marketing)
        #expect(await followed.next()?.consents == [.marketing: .denied])
    }
}
