#if os(Linux) || os(macOS)
import Foundation
import KeelAnalytics
import KeelJournal
import KeelTestKit
import KeelTestSupport
import Testing

/// Kills a tracking and delivering process at random moments, and accounts for every event.
@Suite("Process kills while tracking", .serialized)
struct KillTests {
    /// `KEEL_KILLS` sets the length of the run.
    private static let killCount = TestLength.count("KEEL_KILLS", 40, thorough: 200)

    /// The maximum number of writers killed in one folder: each leaves events to deliver, which
    /// slow the start of the next one.
    private static let killsInOneFolder = 200

    /// The arrivals at one destination, over all lives.
    private struct Arrivals {
        /// The ids of each event, as their random bits.
        var ids: [Int: Set<Int>] = [:]
        var count = 0
    }

    /// The same destinations in this process, healthy, with their earlier arrivals.
    private static func service(
        at folder: URL,
        vendors: [ScriptedAnalyticsDestination]
    ) throws -> AnalyticsService {
        var configuration = AnalyticsConfiguration()
        configuration.defaultConsent = .granted
        configuration.journal.byteLimit = 64 << 20
        for vendor in vendors { configuration.add(vendor) }
        return try AnalyticsService(at: folder, configuration: configuration)
    }

    private static func vendors() -> [ScriptedAnalyticsDestination] {
        [1, 2, 3].map { place in
            ScriptedAnalyticsDestination(
                "d\(place)",
                guarantee: place == 3 ? .atMostOnce : .effectivelyOnce
            ) { $0.number % 23 == 7 ? AnalyticsRejection("refused", "a bad record") : nil }
        }
    }

    @Test("kill -9 at random moments: no acknowledged event lost or duplicated, ledgers balance")
    func kills() async throws {
        var (kills, events, arrived) = (0, 0, 0)
        while kills < Self.killCount {
            let count = min(Self.killsInOneFolder, Self.killCount - kills)
            let told = try await kill(count)
            kills += count
            events += told.events
            arrived += told.arrived
        }
        print("\(kills) kills, \(events) events, \(arrived) arrivals before them: 0 lost, 0 twice")
    }

    /// Kills processes that continue in one folder.
    private func kill(_ count: Int) async throws -> (events: Int, arrived: Int) {
        let folder = URL.temporaryDirectory.appending(path: "keel-analytics-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var acknowledged: Set<Int> = []
        var arrivals = [Arrivals](repeating: Arrivals(), count: 4)
        var first = 1
        for trial in 0..<10 * count {
            // On a busy machine lives are short, so more of them run until enough has happened.
            let isEnough = acknowledged.count > count && arrivals[1].count > count / 4
            if trial >= count, isEnough { break }
            let life: [Int]? = try await CrashTrial.run(
                "KeelAnalyticsCrashWriter",
                [folder.path, String(first)],
                killedAfter: .microseconds(Int.random(in: 200...20_000)),
                waitsForLife: !trial.isMultiple(of: 7)
            )
            let printed = try #require(life, "the writer ended by itself")
            for (place, value) in printed.enumerated() {
                if (1..<1_000_000_000).contains(value) { acknowledged.insert(value) }
                guard value >= 1_000_000_000, place + 1 < printed.count else { continue }
                let destination = value / 1_000_000_000
                arrivals[destination].count += 1
                arrivals[destination].ids[value % 1_000_000_000, default: []]
                    .insert(printed[place + 1])
            }
            // The event in progress may exist, although its call did not return.
            first = (acknowledged.max() ?? 0) + 2 + trial
            let service = try Self.service(at: folder, vendors: Self.vendors())
            for (name, ledger) in try service.ledgers() {
                #expect(ledger.isBalanced, "trial \(trial), \(name): \(ledger)")
                let accepted = acknowledged.count...acknowledged.count + trial + 1
                #expect(accepted.contains(ledger.accepted), "trial \(trial), \(name): \(ledger)")
            }
        }
        try await check(folder, acknowledged, arrivals)
        // Killing processes before they have done anything would prove nothing.
        #expect(acknowledged.count > count, "only \(acknowledged.count) events")
        #expect(arrivals[1].count > count / 4, "only \(arrivals[1].count) arrivals")
        return (acknowledged.count, arrivals.map(\.count).reduce(0, +))
    }

    private func check(
        _ folder: URL,
        _ acknowledged: Set<Int>,
        _ arrivals: [Arrivals]
    ) async throws {
        let vendors = Self.vendors()
        let service = try Self.service(at: folder, vendors: vendors)
        #expect(await service.flush(upTo: .seconds(3600)))
        let ledgers = try service.ledgers()
        for (place, vendor) in zip(1..., vendors) {
            let ledger = try #require(ledgers[vendor.name])
            var ids = arrivals[place].ids
            for record in vendor.received {
                ids[record.number, default: []].insert(
                    -1 - (Int(record.id.suffix(12), radix: 16) ?? 0)
                )
            }
            #expect(ids.values.allSatisfy { $0.count == 1 }, "an event has two ids")
            let good = acknowledged.filter { $0 % 23 != 7 }
            let missing = good.subtracting(ids.keys)
            #expect(ledger.isBalanced && ledger.pending == 0, "\(ledger)")
            let refused = ledger.rejected["refused"] ?? 0
            if place == 3 {
                let count = arrivals[place].count + vendor.received.count
                #expect(count == ids.count, "an event arrived twice where that counts")
                #expect(missing.count <= ledger.rejected["unconfirmed"] ?? 0)
            } else {
                #expect(refused >= acknowledged.count - good.count)
                #expect(missing.isEmpty, "lost \(missing.sorted().prefix(5))")
                #expect(ledger.delivered == ids.count)
                #expect(ledger.accepted == ids.count + refused)
            }
        }
    }
}
#endif
