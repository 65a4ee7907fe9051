import KeelAnalytics
import KeelCore
import KeelJournal
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Delivery")
struct DeliveryTests {
    let bench = Bench()

    private func track(_ numbers: some Sequence<Int>, on service: AnalyticsService) {
        for number in numbers {
            service.trackEvent("a", parameters: ["number": .integer(number)])
        }
    }

    @Test("A failing destination neither delays nor loses other destinations' events, nor its own")
    func deadBesideHealthy() async throws {
        let healthy = ScriptedAnalyticsDestination("healthy")
        let dead = ScriptedAnalyticsDestination(
            "dead",
            faults: Array(repeating: .unavailable(), count: 100_000)
        )
        let hanging = ScriptedAnalyticsDestination(
            "hanging",
            clock: bench.clock,
            faults: Array(repeating: .delay(.seconds(1_000_000), then: .lost), count: 100_000)
        )
        let service = try bench.service(healthy, dead, hanging) {
            $0.deliveryInterval = .seconds(1)
        }
        let running = Task { await service.run() }
        // One event per hour for a week.
        for hour in 0..<24 * 7 {
            track([hour], on: service)
            try await waitUntil {
                await bench.clock.advance(by: .seconds(1))
                return healthy.received.count > hour
            }
        }
        #expect(healthy.received.map(\.number) == Array(0..<24 * 7))
        #expect(dead.received.isEmpty && hanging.received.isEmpty)
        running.cancel()
        await running.value
        for ledger in try service.ledgers().values { #expect(ledger.isBalanced) }
        dead.setFaults([])
        hanging.setFaults([])
        #expect(await service.flush())
        #expect(dead.received.map(\.number) == Array(0..<24 * 7))
        #expect(hanging.received.map(\.number) == Array(0..<24 * 7))
        #expect(healthy.callCount >= 24 * 7)
        #expect([healthy, dead, hanging].map(\.peakCount) == [1, 1, 1])
    }

    @Test("Batches stay within the limits on records and bytes")
    func limits() async throws {
        let byCount = ScriptedAnalyticsDestination(
            "count",
            limits: BatchLimits(records: 7, bytes: .max)
        )
        let byBytes = ScriptedAnalyticsDestination(
            "bytes",
            limits: BatchLimits(records: 1000, bytes: 1050),
            recordByteCount: 100
        )
        let service = try bench.service(byCount, byBytes)
        track(0..<50, on: service)
        #expect(await service.flush())
        #expect(byCount.batches.map(\.count) == [7, 7, 7, 7, 7, 7, 7, 1])
        #expect(byBytes.batches.map(\.count) == [10, 10, 10, 10, 10])
        #expect(byBytes.received.map(\.number) == Array(0..<50))
    }

    @Test("One bad record in 500 is rejected alone, however the destination reports it")
    func poison() async throws {
        let listing = ScriptedAnalyticsDestination(
            "listing",
            limits: BatchLimits(records: 500, bytes: .max)
        ) { $0.number == 321 ? AnalyticsRejection("invalidField", "a field") : nil }
        let silent = PoisonedDestination(name: "silent", poison: [321], answer: .refused)
        let tooLarge = PoisonedDestination(name: "tooLarge", poison: [321], answer: .tooLarge)
        let local = PoisonedDestination(name: "local", poison: [321], answer: .beforehand)
        let several = PoisonedDestination(
            name: "several",
            poison: [0, 7, 8, 499],
            answer: .refused
        )
        let service = try bench.service(listing, silent, tooLarge, local, several)
        track(0..<500, on: service)
        #expect(await service.flush())
        let others = Set(0..<500).subtracting([321])
        #expect(Set(listing.received.map(\.number)) == others)
        for destination in [silent, tooLarge, local] {
            #expect(destination.arrived == others.sorted(), "\(destination.name)")
        }
        #expect(several.arrived == Set(0..<500).subtracting([0, 7, 8, 499]).sorted())
        // Halving finds one record in a few requests, not in hundreds.
        #expect(silent.callCount < 40, "\(silent.callCount)")
        #expect(several.callCount < 120, "\(several.callCount)")
        let ledgers = try service.ledgers()
        #expect(ledgers["listing"]?.rejected == ["invalidField": 1])
        #expect(ledgers["silent"]?.rejected == ["refused": 1])
        #expect(ledgers["tooLarge"]?.rejected == ["tooLarge": 1])
        #expect(ledgers["local"]?.rejected == ["invalidName": 1])
        #expect(ledgers["several"]?.rejected == ["refused": 4])
        for ledger in ledgers.values {
            #expect(ledger.isBalanced && ledger.pending == 0 && ledger.accepted == 500)
        }
    }

    @Test(
        "A destination that refuses everything loses no event and is rarely asked",
        arguments: [AnalyticsFault.unacceptable, .tooLarge]
    )
    func refusesEverything(fault: AnalyticsFault) async throws {
        let vendor = ScriptedAnalyticsDestination(
            limits: BatchLimits(records: 500, bytes: .max),
            faults: Array(repeating: fault, count: 100_000)
        )
        let service = try bench.service(vendor)
        track(0..<200, on: service)
        // One flush per minute for six hours.
        var most = 0
        for _ in 0..<6 * 60 {
            let before = vendor.callCount
            #expect(await service.flush() == false)
            most = max(most, vendor.callCount - before)
            await bench.clock.advance(by: .seconds(60))
        }
        #expect(most <= 30)
        #expect(service.status.destinations["scripted"]?.problem != nil)
        let ledger = try #require(try service.ledgers()["scripted"])
        #expect(ledger.pending == 200 && ledger.rejected.isEmpty && ledger.isBalanced, "\(ledger)")
        vendor.setFaults([])
        #expect(await service.flush())
        #expect(vendor.received.map(\.number).sorted() == Array(0..<200))
        #expect(try service.ledgers()["scripted"]?.rejected == [:])
    }

    @Test("Many bad events in a row do not block the good event after them forever")
    func manyBadEvents() async throws {
        let vendor = PoisonedDestination(name: "v", poison: Set(0..<100), answer: .refused)
        let service = try bench.service(vendor)
        track(0..<101, on: service)
        var good = 101
        for _ in 0..<1000 {
            if await service.flush() { break }
            await bench.clock.advance(by: .seconds(60))
            // Each good event allows giving up some of the bad ones.
            guard vendor.arrived.count == good - 100 else { continue }
            track([good], on: service)
            good += 1
        }
        #expect(vendor.arrived == Array(100..<good))
        let ledger = try #require(try service.ledgers()["v"])
        #expect(ledger.rejected == ["refused": 100], "\(ledger)")
        #expect(ledger.isBalanced && ledger.pending == 0, "\(ledger)")
    }

    @Test("A bad event without others waits until another event is accepted")
    func badEventAlone() async throws {
        let vendor = PoisonedDestination(name: "v", poison: [0], answer: .refused)
        let service = try bench.service(vendor)
        track([0], on: service)
        #expect(await service.flush() == false)
        #expect(service.status.destinations["v"]?.problem != nil)
        #expect(try service.ledgers()["v"]?.pending == 1)
        track([1], on: service)
        #expect(await service.flush())
        #expect(vendor.arrived == [1])
        #expect(try service.ledgers()["v"]?.rejected == ["refused": 1])
        #expect(try service.ledgers()["v"]?.isBalanced == true)
    }

    @Test("A destination that sends only the start of a batch receives the rest next")
    func unsent() async throws {
        let arrived = Steps()
        let picky = HandlerDestination("picky", limits: BatchLimits(records: 50, bytes: .max)) {
            batch in
            let first = batch.prefix { $0.number / 3 == batch[0].number / 3 }
            guard first.count == batch.count else { return .unsent(fitting: first.count) }
            arrived.add(batch.map(\.number), 0)
            return .delivered
        }
        let service = try bench.service(picky)
        track(0..<200, on: service)
        #expect(await service.flush())
        #expect(arrived.numbers(before: 1) == Array(0..<200))
    }

    @Test("A destination that accepts fewer records than declared receives smaller batches")
    func smallerThanItSays() async throws {
        let small = PoisonedDestination(name: "small", poison: [], answer: .refused, most: 9)
        let service = try bench.service(small)
        track(0..<300, on: service)
        #expect(await service.flush())
        #expect(small.arrived == Array(0..<300))
        #expect(small.callCount < 90, "\(small.callCount)")
    }

    @Test("A batch with a lost reply is sent again with the same ids and counts once")
    func lostReply() async throws {
        let vendor = ScriptedAnalyticsDestination(faults: [.lostReply, .lost, .unavailable()])
        let service = try bench.service(vendor)
        track(0..<10, on: service)
        #expect(await service.flush() == false)
        #expect(await service.flush() == false)
        #expect(await service.flush() == false)
        #expect(await service.flush())
        #expect(vendor.received.map(\.number) == Array(0..<10))
        #expect(vendor.repeatedCount == 10)
        #expect(Set(vendor.batches.map { $0.map(\.id) }).count == 1)
        let ledger = try #require(try service.ledgers()["scripted"])
        #expect(ledger.delivered == 10 && ledger.isBalanced)
    }

    @Test("An at-most-once destination does not receive a batch in doubt again")
    func atMostOnce() async throws {
        let vendor = ScriptedAnalyticsDestination(
            guarantee: .atMostOnce,
            limits: BatchLimits(records: 5, bytes: .max),
            faults: [.unavailable(), .lostReply, .lost]
        )
        let service = try bench.service(vendor)
        track(0..<20, on: service)
        for _ in 0..<5 { await service.flush() }
        #expect(await service.flush())
        #expect(vendor.received.map(\.number) == [0, 1, 2, 3, 4] + Array(10..<20))
        #expect(vendor.repeatedCount == 0)
        let ledger = try #require(try service.ledgers()["scripted"])
        #expect(ledger.rejected == ["unconfirmed": 10])
        #expect(ledger.delivered == 10 && ledger.isBalanced && ledger.pending == 0)
    }

    @Test("An at-most-once destination receives nothing while its batch cannot be noted on disk")
    func atMostOnceOnFullDisk() async throws {
        let vendor = ScriptedAnalyticsDestination(guarantee: .atMostOnce)
        let service = try bench.service(vendor)
        track(0..<3, on: service)
        bench.files.limit(to: bench.files.disk.byteCount)
        for _ in 0..<3 { #expect(await service.flush() == false) }
        #expect(vendor.callCount == 0)
        bench.files.limit(to: nil)
        #expect(await service.flush())
        #expect(vendor.received.map(\.number) == [0, 1, 2])
        #expect(try service.ledgers()["scripted"]?.isBalanced == true)
    }

    @Test("An at-most-once destination receives no batch again after a crash")
    func atMostOnceAcrossCrash() async throws {
        let files = bench.files
        let arrived = Steps()
        let vendor = HandlerDestination(
            "once",
            guarantee: .atMostOnce,
            limits: BatchLimits(records: 3, bytes: .max)
        ) { batch in
            arrived.add(batch.map(\.number), files.steps.count)
            return .delivered
        }
        do {
            let service = try bench.service(vendor)
            track(0..<9, on: service)
            #expect(await service.flush())
        }
        for count in 0...files.steps.count {
            let next = Bench(files.disk(afterKillAt: count))
            let second = ScriptedAnalyticsDestination("once", guarantee: .atMostOnce)
            let service = try next.service(second)
            #expect(await service.flush())
            let before = arrived.numbers(before: count)
            #expect(Set(before).isDisjoint(with: second.received.map(\.number)), "step \(count)")
            let ledger = try #require(try service.ledgers()["once"])
            #expect(ledger.isBalanced, "step \(count)")
        }
    }

    @Test("Rules hold records back, drop properties, and hash them with a key")
    func rules() async throws {
        let plain = ScriptedAnalyticsDestination("plain")
        let strict = ScriptedAnalyticsDestination("strict")
        var rules = DestinationRules(
            dropping: ["city"],
            hashing: ["customer"],
            with: FakeByteSealing(key: 7)
        )
        rules.hashesUserID = true
        rules.accepts = { $0.kind != .screen("Debug") }
        let service = try bench.service(plain) { $0.add(strict, rules: rules) }
        service.setUserID("u1")
        let parameters: [String: AnalyticsValue] = [
            "customer": "c-17", "city": "Bern", "inner": ["city": "Bern", "customer": 5], "page": 1,
        ]
        service.trackEvent("a", parameters: parameters)
        service.trackEvent("a", parameters: parameters)
        service.trackScreen("Debug")
        #expect(await service.flush())
        #expect(plain.received.count == 4)
        #expect(plain.received[1].properties == parameters)
        #expect(plain.received[1].userID == "u1")
        let got = strict.received
        #expect(got.count == 3)
        #expect(got[1].properties == got[2].properties)
        #expect(got[1].properties["page"] == 1 && got[1].properties["city"] == nil)
        guard case .string(let hash) = got[1].properties["customer"],
            case .object(let inner) = got[1].properties["inner"]
        else { return fail("\(got[1].properties)") }
        #expect(hash.count == 64 && hash.allSatisfy(\.isHexDigit))
        #expect(inner.keys.sorted() == ["customer"] && inner["customer"] != 5)
        #expect(got[1].userID != "u1" && got[1].userID?.count == 64)
        #expect(try service.ledgers()["strict"]?.rejected == ["filtered": 1])
    }

    @Test("A new destination starts with the backlog or the next event; a removed one is forgotten")
    func comingAndGoing() async throws {
        let (first, late, newest) = (
            ScriptedAnalyticsDestination("first"), ScriptedAnalyticsDestination("late"),
            ScriptedAnalyticsDestination("newest")
        )
        do {
            let service = try bench.service(first)
            track(0..<5, on: service)
        }
        let service = try bench.service(late) { $0.add(newest, startingAt: .newest) }
        track([5], on: service)
        #expect(await service.flush())
        #expect(late.received.map(\.number) == Array(0..<6))
        #expect(newest.received.map(\.number) == [5])
        for ledger in try service.ledgers().values { #expect(ledger.isBalanced) }
        #expect(try service.unconfiguredDestinations() == ["first"])
        #expect(throws: AnalyticsError.self) { try service.removeDestination("late") }
        try service.removeDestination("first")
        try service.removeDestination("first")
        #expect(try service.unconfiguredDestinations() == [])
    }

    @Test("Records dropped by the journal's limits count as expired, and the ledger balances")
    func expiry() async throws {
        let vendor = ScriptedAnalyticsDestination()
        let service = try bench.service(vendor) { configuration in
            configuration.journal.recordLimit = 80
            configuration.journal.ageLimit = .seconds(3600)
        }
        track(0..<300, on: service)
        var ledger = try #require(try service.ledgers()["scripted"])
        #expect(ledger.accepted == 300 && ledger.expired >= 220 && ledger.isBalanced)
        bench.time.advance(by: .seconds(4000))
        track(300..<310, on: service)
        // The time of their segment becomes certain a quarter of the limit later.
        bench.time.advance(by: .seconds(900))
        #expect(await service.flush())
        #expect(vendor.received.map(\.number) == Array(300..<310))
        ledger = try #require(try service.ledgers()["scripted"])
        #expect(ledger.expired == 300 && ledger.delivered == 10 && ledger.isBalanced)
    }

    @Test("Records that expire during their delivery are counted once")
    func expiryUnderWay() async throws {
        let gate = Gate()
        let vendor = HandlerDestination("slow", limits: BatchLimits(records: 10, bytes: .max)) {
            _ in
            _ = try? await gate.pass()
            return .delivered
        }
        let service = try bench.service(vendor) { $0.journal.recordLimit = 80 }
        track(0..<20, on: service)
        async let flushed = service.flush()
        try await waitUntil { gate.begunCount != 0 }
        track(20..<300, on: service)
        gate.open()
        #expect(await flushed)
        let ledger = try #require(try service.ledgers()["slow"])
        #expect(ledger.accepted == 300 && ledger.isBalanced, "\(ledger)")
    }

    @Test("The template in the guide delivers")
    func template() async throws {
        let lines = Lines()
        let service = try bench.service(LineDestination(name: "lines") { lines.add($0) })
        track(0..<3, on: service)
        #expect(await service.flush())
        #expect(lines.all.joined(separator: "\n").split(separator: "\n").count == 3)
    }
}
