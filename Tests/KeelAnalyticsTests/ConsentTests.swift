import KeelAnalytics
import KeelCore
import KeelTestKit
import Synchronization
import Testing

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

    @Test("Nothing leaves before the grant, and everything held leaves after it, across a start")
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

    @Test("A purpose that is held does not hold up another")
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

    @Test("A denial removes what was held from the disk, refuses what follows, and stays")
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

    @Test("Taken back, what waits is removed or held, as the app says")
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

    @Test("A decision that was cut off by a crash is finished at the next start")
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

    @Test("A grant that could not be written down lets nothing out")
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

    @Test("Damaged settings are set aside, and nothing leaves, though the default is to grant")
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

    /// Delivers while consent comes and goes, and checks each batch at the moment it is handed over.
    @Test("While consent comes and goes, no batch begins without it", arguments: 0..<20)
    func races(round: Int) async throws {
        // Even: nobody consents at the moment. A request that has begun is not called back, so one
        // batch may be handed over after the change.
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
        // The time is real here: however busy the machine is, each flush comes to its end.
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
                    // Whatever had begun has ended: from here on it would be a breach.
                    await service.flush(upTo: limit)
                    grants.withLock { $0.state = 0 }
                    await Task.yield()
                default: break
                }
            }
            // In this order: what runs delivers as soon as it may.
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
