import KeelCore
import KeelJournal
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelAnalytics

/// Users who change their minds during deliveries, while destinations come and go.
@Suite("Consent at every point of a delivery, simulated")
struct ConsentSimulationTests {
    @Test(
        "Denied events are neither delivered nor kept, and every ledger balances",
        arguments: 0..<TestLength.count(20 as UInt64, thorough: 60)
    )
    func simulation(seed: UInt64) async throws {
        let world = World(seed: seed)
        var bench = Bench()
        var opened = try world.open(on: bench)
        for _ in 0..<50 {
            let service = opened
            switch world.draw(12) {
            case 0..<5: world.track(on: service)
            case 5: try world.decide(on: service)
            case 6..<9:
                for lane in service.lanes { _ = await lane.deliver(isForced: true) }
            case 9: await bench.clock.advance(by: .seconds(world.draw(7200)))
            default:
                // Another version of the app, on the same disk.
                try world.check(service, bench)
                bench = Bench(bench.files.disk)
                opened = try world.open(on: bench)
                continue
            }
            try world.check(service, bench)
        }
        let service = opened
        world.recover()
        for purpose in World.purposes { try world.grant(purpose, on: service) }
        for _ in 0..<20 {
            for lane in service.lanes { _ = await lane.deliver(isForced: true) }
            await bench.clock.advance(by: .seconds(7200))
        }
        try world.check(service, bench)
        for (name, ledger) in try service.ledgers() {
            #expect(ledger.pending == 0, "\(name): \(ledger)")
        }
        #expect(world.violations == [])
    }
}

/// The user, the app and the vendors of one simulation.
private final class World: Sendable {
    static let purposes: [ConsentPurpose] = [.analytics, .performance, .marketing]

    private struct State {
        var random: SeededRandom
        var service: AnalyticsService?
        /// The purposes of the events, by number.
        var tracked: [ConsentPurpose] = []
        /// The events tracked before their purpose was denied.
        var denied: Set<Int> = []
        var violations: [String] = []
        var isHealthy = false
    }

    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SeededRandom(seed: seed))) }

    var violations: [String] { state.withLock { $0.violations } }

    func draw(_ count: Int) -> Int {
        state.withLock { Int.random(in: 0..<count, using: &$0.random) }
    }

    var isHealthy: Bool { state.withLock { $0.isHealthy } }

    func recover() { state.withLock { $0.isHealthy = true } }

    // MARK: The app

    /// Opens the service with some of the destinations.
    func open(on bench: Bench) throws -> AnalyticsService {
        var configuration = bench.configuration
        configuration.defaultConsent = .unknown
        for name in ["a", "b", "c"] where draw(3) > 0 {
            configuration.add(Vendor(name: name, world: self))
        }
        let service = try AnalyticsService(
            at: "/a",
            configuration: configuration,
            files: bench.files
        )
        state.withLock { $0.service = service }
        return service
    }

    func track(on service: AnalyticsService) {
        let purpose = Self.purposes[draw(3)]
        let number = state.withLock { $0.tracked.count }
        let event = AnalyticsEvent(
            name: Self.name(number),
            parameters: ["number": .integer(number)],
            purpose: purpose
        )
        if service.trackEvent(event) != nil { state.withLock { $0.tracked.append(purpose) } }
    }

    private static func name(_ number: Int) -> String { "<event \(number)>" }

    // MARK: The user

    func decide(on service: AnalyticsService) throws {
        let purpose = Self.purposes[draw(3)]
        switch draw(4) {
        case 0: try deny(purpose, on: service)
        case 1: try service.revokeConsent(for: purpose, events: .hold)
        default: try grant(purpose, on: service)
        }
    }

    func grant(_ purpose: ConsentPurpose, on service: AnalyticsService) throws {
        try service.grantConsent(for: purpose)
    }

    private func deny(_ purpose: ConsentPurpose, on service: AnalyticsService) throws {
        try service.denyConsent(for: purpose)
        state.withLock { state in
            for (number, other) in state.tracked.enumerated() where other == purpose {
                state.denied.insert(number)
            }
        }
    }

    /// Occasionally makes a decision between two steps of a delivery.
    fileprivate func interrupt() {
        guard !isHealthy, draw(12) == 0, let service = state.withLock({ $0.service })
        else { return }
        try? deny(Self.purposes[draw(3)], on: service)
    }

    // MARK: Invariants

    fileprivate func begin(_ request: ArraySlice<AnalyticsRecord>, at vendor: String) {
        state.withLock { state in
            for record in request where state.denied.contains(record.number) {
                state.violations.append("\(record.number) left for \(vendor)")
            }
        }
    }

    func check(_ service: AnalyticsService, _ bench: Bench) throws {
        let denied = state.withLock { $0.denied }
        for (path, file) in bench.files.disk.paths where path.hasSuffix(".journal") {
            let text = String(decoding: bench.files.disk.contents[file] ?? [], as: UTF8.self)
            for number in denied {
                #expect(!text.contains(Self.name(number)), "\(number) is still in \(path)")
            }
        }
        for (name, ledger) in try service.ledgers() {
            #expect(ledger.isBalanced, "\(name): \(ledger)")
        }
    }
}

/// A vendor with several requests per batch, which fails in every way.
private struct Vendor: AnalyticsDestination {
    let name: String
    let world: World
    let guarantee = DeliveryGuarantee.effectivelyOnce
    let limits = BatchLimits(records: 7, bytes: .max)

    func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int { 1 }

    func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        var rest = batch[...]
        while !rest.isEmpty {
            world.interrupt()
            guard DeliveryPermit.current?.isValid == true else { return DeliveryPermit.withdrawn }
            world.begin(rest.prefix(3), at: name)
            rest = rest.dropFirst(3)
            world.interrupt()
        }
        guard !world.isHealthy else { return .delivered }
        switch world.draw(10) {
        case 0: return .unknown(DeliveryProblem("lost"))
        case 1: return .postponed(DeliveryProblem("away"), notBefore: nil)
        case 2: return .tooLarge
        case 3: return .unacceptable(AnalyticsRejection("refused", "moody"))
        case 4: return .misconfigured(DeliveryProblem("key"))
        case 5: return .settled(rejected: [0: AnalyticsRejection("refused", "the first")])
        default: return .delivered
        }
    }
}
