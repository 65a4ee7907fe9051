import KeelCore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelAnalytics

@Suite("Consent")
struct ConsentTests {
    let bench = Bench()
    let vendor = ScriptedAnalyticsDestination()

    private func service() throws -> AnalyticsService {
        try bench.service(vendor) { $0.defaultConsent = .unknown }
    }

    private func track(_ name: String, _ purpose: ConsentPurpose, on service: AnalyticsService) {
        service.trackEvent(AnalyticsEvent(name: name, purpose: purpose))
    }

    @Test(
        "Nothing is sent before consent, and everything held is sent after it, also after a restart"
    )
    func hold() async throws {
        do {
            let service = try service()
            for number in 0..<10 {
                service.trackEvent("a", parameters: ["number": .integer(number)])
            }
            #expect(await service.flush())
            #expect(vendor.callCount == 0)
        }
        let service = try service()
        #expect(await service.flush())
        #expect(vendor.callCount == 0)
        #expect(try service.ledgers()["scripted"]?.pending == 10)
        try service.grantConsent(for: .analytics)
        #expect(await service.flush())
        #expect(vendor.received.map(\.number) == Array(0..<10))
    }

    @Test("A purpose on hold does not hold up another")
    func purposes() async throws {
        let service = try service()
        try service.grantConsent(for: .performance)
        track("held", .analytics, on: service)
        track("sent", .performance, on: service)
        track("held too", .marketing, on: service)
        track("sent too", .performance, on: service)
        #expect(await service.flush())
        #expect(vendor.received.compactMap(\.name) == ["sent", "sent too"])
        try service.grantConsent(for: .marketing)
        #expect(await service.flush())
        #expect(vendor.received.compactMap(\.name).last == "held too")
        try service.grantConsent(for: .analytics)
        #expect(await service.flush())
        #expect(Set(vendor.received.compactMap(\.name)).count == 4)
        #expect(vendor.repeatedCount == 0)
        #expect(try service.ledgers()["scripted"]?.isBalanced == true)
    }

    @Test("A denial erases held events from disk, rejects later ones, and persists")
    func denial() async throws {
        do {
            let service = try service()
            service.trackEvent("confidential-name")
            try service.denyConsent(for: .analytics)
            for content in bench.files.disk.paths.values.compactMap({
                bench.files.disk.contents[$0]
            }) {
                #expect(!String(decoding: content, as: UTF8.self).contains("confidential-name"))
            }
            #expect(service.trackEvent("b") == nil)
            #expect(service.status.refused == ["denied": 1])
        }
        let service = try service()
        #expect(service.consent(for: .analytics) == .denied)
        #expect(service.trackEvent("c") == nil)
        track("other", .performance, on: service)
        try service.grantConsent(for: .performance)
        #expect(await service.flush())
        #expect(vendor.received.compactMap(\.name) == ["other"])
        let ledger = try #require(try service.ledgers()["scripted"])
        #expect(ledger.purged == 1 && ledger.delivered == 1 && ledger.accepted == 2)
        #expect(ledger.isBalanced)
    }

    private func isOnDisk(_ text: String) -> Bool {
        bench.files.disk.paths.values.contains { file in
            let content = bench.files.disk.contents[file] ?? []
            return content.contains(Array(text.utf8))
        }
    }

    @Test("A denial leaves none of its events on disk, whichever destinations are configured")
    func denialOnDisk() async throws {
        let names = ["confidential-a", "confidential-b"]
        // A removed destination, one with delivered and pending events, and none in the end.
        do {
            let service = try bench.service(vendor, ScriptedAnalyticsDestination("gone"))
            track(names[0], .analytics, on: service)
            #expect(await service.flush())
        }
        do {
            let service = try self.service()
            track(names[1], .analytics, on: service)
            track("undecided", .marketing, on: service)
        }
        #expect(names.allSatisfy(isOnDisk))
        let service = try bench.service { $0.defaultConsent = .unknown }
        try service.denyConsent(for: .analytics)
        for name in names { #expect(!isOnDisk(name), "\(name)") }
        #expect(isOnDisk("undecided"))
    }

    @Test("The end of a removal leaves the mark of a purpose that was denied during it")
    func concurrentDenials() throws {
        do {
            let service = try service()
            track("confidential", .marketing, on: service)
            try service.tracker.decide(.denied, for: .analytics)
            let removed = service.tracker.settings.unfinishedDenials
            try service.tracker.decide(.denied, for: .marketing)
            try service.tracker.finishDenials(of: removed)
            #expect(service.tracker.settings.unfinishedDenials == [.marketing])
        }
        #expect(isOnDisk("confidential"))
        // The process ended before the second removal; the next launch makes up for it.
        _ = try service()
        #expect(!isOnDisk("confidential"))
    }

    @Test("Ledgers balance for the remaining records after a denial erased others")
    func ledgersAfterDenial() async throws {
        let other = ScriptedAnalyticsDestination("other")
        do {
            let service = try bench.service(vendor, other) { $0.defaultConsent = .unknown }
            for number in 0..<30 {
                track("\(number)", number % 3 == 0 ? .analytics : .performance, on: service)
            }
            try service.grantConsent(for: .analytics)
            track("last", .analytics, on: service)
            other.setFaults([.unavailable()])
            await service.flush()
            try service.denyConsent(for: .analytics)
            for ledger in try service.ledgers().values { #expect(ledger.isBalanced, "\(ledger)") }
        }
        let late = ScriptedAnalyticsDestination("late")
        let service = try bench.service(vendor, other, late) { $0.defaultConsent = .unknown }
        try service.grantConsent(for: .performance)
        #expect(await service.flush())
        for destination in [other, late] {
            let names = destination.received.compactMap(\.name)
            #expect(names == (0..<30).filter { $0 % 3 != 0 }.map { "\($0)" })
        }
        for (name, ledger) in try service.ledgers() {
            #expect(ledger.isBalanced && ledger.pending == 0, "\(name): \(ledger)")
        }
    }

    @Test("The user is forgotten when no purpose is granted any more")
    func forgottenUser() throws {
        let service = try service()
        try service.grantConsent(for: .performance)
        service.setUserID("user-4711")
        service.setSuperProperties(["plan": "confidential-plan"])
        let before = service.anonymousID
        try service.denyConsent(for: .marketing)
        #expect(service.userID == "user-4711" && service.anonymousID == before)
        try service.revokeConsent(for: .performance, events: .purge)
        #expect(service.userID == nil && service.superProperties.isEmpty)
        #expect(service.anonymousID != before)
        try service.denyConsent(for: .analytics)
        for text in ["user-4711", "confidential-plan", before] { #expect(!isOnDisk(text)) }
    }

    @Test("A batch that was built before a denial makes no request after it")
    func denialBetweenRequests() async throws {
        let service = Mutex<AnalyticsService?>(nil)
        let sent = Mutex(0)
        // Several requests per batch, each with the check that this package's destinations make.
        let several = HandlerDestination("several", limits: BatchLimits(records: 10, bytes: 1000)) {
            batch in
            for _ in batch {
                guard DeliveryPermit.current?.isValid == true else {
                    return DeliveryPermit.withdrawn
                }
                sent.withLock { $0 += 1 }
                try? service.withLock { $0 }?.denyConsent(for: .analytics)
            }
            return .delivered
        }
        let opened = try bench.service(several)
        service.withLock { $0 = opened }
        for _ in 0..<5 { opened.trackEvent("a") }
        track("other", .performance, on: opened)
        #expect(await opened.flush())
        // One of the first batch, and the remaining one.
        #expect(sent.withLock { $0 } == 2)
        let ledger = try #require(try opened.ledgers()["several"])
        #expect(ledger.purged == 5 && ledger.delivered == 1 && ledger.isBalanced, "\(ledger)")
        #expect(opened.status.destinations["several"]?.failures == 0)
        service.withLock { $0 = nil }
    }

    @Test("A batch that was built before a denial makes no request once consent is given again")
    func grantBetweenRequests() async throws {
        let service = Mutex<AnalyticsService?>(nil)
        let sent = Mutex([String?]())
        let limits = BatchLimits(records: 10, bytes: 1000)
        let several = HandlerDestination("several", limits: limits) { batch in
            for record in batch {
                guard DeliveryPermit.current?.isValid == true else {
                    return DeliveryPermit.withdrawn
                }
                sent.withLock { $0.append(record.name) }
                guard record.name == "first" else { continue }
                let opened = service.withLock { $0 }
                try? opened?.denyConsent(for: .analytics)
                try? opened?.grantConsent(for: .analytics)
            }
            return .delivered
        }
        let opened = try bench.service(several)
        service.withLock { $0 = opened }
        opened.trackEvent("first")
        opened.trackEvent("second")
        #expect(await opened.flush())
        #expect(sent.withLock { $0 } == ["first"])
        opened.trackEvent("third")
        #expect(await opened.flush())
        #expect(sent.withLock { $0 } == ["first", "third"])
        let ledger = try #require(try opened.ledgers()["several"])
        #expect(ledger.purged == 2 && ledger.delivered == 1 && ledger.isBalanced, "\(ledger)")
        service.withLock { $0 = nil }
    }

    @Test(
        "Consent after a denial that could not remove its events removes them first",
        arguments: [true, false]
    )
    func grantAfterFailedRemoval(isHeldFirst: Bool) async throws {
        let service = try service()
        track("confidential", .analytics, on: service)
        bench.files.limit(to: bench.files.disk.byteCount)
        #expect(throws: AnalyticsError.self) { try service.denyConsent(for: .analytics) }
        #expect(throws: AnalyticsError.self) { try service.grantConsent(for: .analytics) }
        #expect(service.consent(for: .analytics) == .denied)
        bench.files.limit(to: nil)
        if isHeldFirst { try service.revokeConsent(for: .analytics, events: .hold) }
        try service.grantConsent(for: .analytics)
        #expect(!isOnDisk("confidential"))
        track("later", .analytics, on: service)
        #expect(await service.flush())
        #expect(vendor.received.compactMap(\.name) == ["later"])
        let ledger = try #require(try service.ledgers()["scripted"])
        #expect(ledger.purged == 1 && ledger.delivered == 1 && ledger.isBalanced, "\(ledger)")
    }

    @Test(
        "A power failure after an event does not undo a denial",
        arguments: 0..<100 as Range<UInt64>
    )
    func powerFailureAfterDenial(seed: UInt64) throws {
        let steps: Int
        do {
            let service = try service()
            try service.denyConsent(for: .analytics)
            steps = bench.files.steps.count
            // The settings are written repeatedly, and nothing waits for those writes.
            for _ in 0..<5 {
                bench.time.advance(by: .seconds(3600))
                track("a", .performance, on: service)
            }
        }
        var random = SeededRandom(seed: seed)
        let count = Int.random(in: steps...bench.files.steps.count, using: &random)
        let next = Bench(bench.files.disk(afterPowerFailureAt: count, using: &random))
        let service = try next.service(vendor) { $0.defaultConsent = .unknown }
        #expect(service.consent(for: .analytics) == .denied, "step \(count)")
        #expect(!service.status.hasLostSettings)
    }

    @Test("Opening reads no records, and the backlog is still counted")
    func opening() async throws {
        do {
            let service = try service()
            for _ in 0..<10 { service.trackEvent("a") }
            try service.denyConsent(for: .marketing)
        }
        bench.files.fail { call in
            if case .read(let path) = call, path.hasSuffix(".journal") {
                FileSystemError.inputOutput
            } else {
                nil
            }
        }
        let service = try service()
        bench.files.fail(nil)
        service.trackEvent("b")
        #expect(service.status.destinations["scripted"]?.ledger.pending == 1)
        #expect(await service.flush())
        #expect(service.status.destinations["scripted"]?.ledger.pending == 11)
        let ledger = try #require(try service.ledgers()["scripted"])
        #expect(ledger.accepted == 11 && ledger.isBalanced)
    }

    @Test("After a revocation the backlog is purged or held, as the app chooses")
    func revocation() async throws {
        let service = try service()
        try service.grantConsent(for: .analytics)
        service.trackEvent("a")
        try service.revokeConsent(for: .analytics, events: .hold)
        service.trackEvent("b")
        #expect(await service.flush())
        #expect(vendor.callCount == 0)
        try service.grantConsent(for: .analytics)
        #expect(await service.flush())
        #expect(vendor.received.compactMap(\.name) == ["a", "b"])
        service.trackEvent("c")
        try service.revokeConsent(for: .analytics)
        #expect(service.consent(for: .analytics) == .denied)
        #expect(await service.flush())
        #expect(vendor.received.count == 2)
        #expect(try service.ledgers()["scripted"]?.purged == 1)
    }

    @Test("A consent decision that a crash interrupted is completed at the next start")
    func cutOffDenial() async throws {
        let steps: Int
        do {
            let service = try service()
            service.trackEvent("a")
            steps = bench.files.steps.count
            try service.denyConsent(for: .analytics)
        }
        for count in steps...bench.files.steps.count {
            let next = Bench(bench.files.disk(afterKillAt: count))
            let vendor = ScriptedAnalyticsDestination()
            let service = try next.service(vendor) { $0.defaultConsent = .unknown }
            #expect(await service.flush())
            #expect(vendor.callCount == 0)
            let ledger = try #require(try service.ledgers()["scripted"])
            #expect(ledger.isBalanced && ledger.accepted == 1, "step \(count): \(ledger)")
            let isDenied = service.consent(for: .analytics) == .denied
            #expect(ledger.purged == (isDenied ? 1 : 0), "step \(count)")
        }
    }

    @Test("A grant that could not be saved sends nothing")
    func failedGrant() async throws {
        let service = try service()
        service.trackEvent("a")
        bench.files.fail { call in
            if case .rename = call { FileSystemError.inputOutput } else { nil }
        }
        #expect(throws: AnalyticsError.self) { try service.grantConsent(for: .analytics) }
        bench.files.fail(nil)
        #expect(await service.flush())
        #expect(vendor.callCount == 0)
    }

    @Test("Damaged settings are set aside, and nothing is sent even if the default is to grant")
    func damagedSettings() async throws {
        let before: String
        do {
            let service = try bench.service(vendor)
            before = service.anonymousID
            try service.denyConsent(for: .marketing)
        }
        let path = "/a/analytics.settings"
        let whole = try #require(bench.files.disk[path])
        for cut in [0, 1, whole.count / 2, whole.count - 1] {
            let next = Bench(bench.files.disk)
            next.files.disk[path] = Array(whole[..<cut])
            do {
                let service = try next.service(vendor)
                #expect(service.status.hasLostSettings)
                #expect(service.anonymousID != before)
                track("a", .marketing, on: service)
                #expect(await service.flush())
            }
            let service = try next.service(vendor)
            #expect(await service.flush())
            #expect(vendor.callCount == 0)
            #expect(next.files.disk["/a/analytics.settings.damaged"] != nil)
        }
    }

    @Test("Decisions stay unknown if a launch ends while it sets damaged settings aside")
    func interruptedSettings() throws {
        _ = try bench.service(vendor)
        bench.files.disk["/a/analytics.settings"] = [1, 2, 3]
        bench.files.fail { call in
            if case .create = call { FileSystemError.noSpace } else { nil }
        }
        expectError(AnalyticsError.self, .diskFull) { try bench.service(vendor) }
        bench.files.fail(nil)
        let service = try bench.service(vendor)
        #expect(service.status.hasLostSettings)
        #expect(service.consent(for: .analytics) == .unknown)
    }

    /// Delivers while consent changes, and checks each batch when it is handed over.
    @Test("No batch starts without consent while consent changes", arguments: 0..<20)
    func races(round: Int) async throws {
        // Even: no consent at the moment. A request that has begun is not recalled, so one batch
        // may be handed over after the change.
        let grants = Mutex((state: 0, begun: 0, wrong: 0))
        let checking = HandlerDestination(
            "checking",
            limits: BatchLimits(records: 3, bytes: 1000)
        ) { batch in
            grants.withLock { grants in
                if grants.state == 0 { grants.wrong += 1 }
                grants.begun += batch.count
            }
            return .delivered
        }
        let service = try bench.service(checking) { configuration in
            configuration.defaultConsent = .unknown
            configuration.clock = ContinuousClock()
            configuration.deliveryInterval = .zero
        }
        // The clock is real here: each flush must finish even on a busy machine.
        let limit = Duration.seconds(3600)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await service.run() }
            for number in 0..<300 {
                service.trackEvent("a", parameters: ["number": .integer(number)])
                switch number % 30 {
                case 10:
                    grants.withLock { $0.state = 1 }
                    try? service.grantConsent(for: .analytics)
                case 20:
                    try? service.revokeConsent(for: .analytics, events: .hold)
                    grants.withLock { $0.state = 2 }
                case 29:
                    // All requests have ended; any later one would be a violation.
                    await service.flush(upTo: limit)
                    grants.withLock { $0.state = 0 }
                    await Task.yield()
                default: break
                }
            }
            // In this order, since `run()` delivers as soon as it may.
            grants.withLock { $0.state = 1 }
            try? service.grantConsent(for: .analytics)
            await service.flush(upTo: limit)
            group.cancelAll()
        }
        #expect(await service.flush(upTo: limit))
        #expect(grants.withLock { $0.wrong } == 0)
        #expect(grants.withLock { $0.begun } == 300)
        #expect(try service.ledgers()["checking"]?.isBalanced == true)
    }
}
