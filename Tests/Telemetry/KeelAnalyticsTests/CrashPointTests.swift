import Foundation
import KeelAnalytics
import KeelCore
import KeelJournal
import KeelTestKit
import KeelTestSupport
import Testing

/// Stops the world at every disk step, and then accounts for every event.
@Suite("Analytics crash recovery")
struct CrashPointTests {
    /// `KEEL_ANALYTICS_POINTS` sets the length of the run.
    private static let pointCount = TestLength.count("KEEL_ANALYTICS_POINTS", 400, thorough: 2_000)

    /// The promises to a run, each with the number of disk steps at that time.
    private struct Promises {
        var tracked: [(number: Int, purpose: ConsentPurpose, steps: Int)] = []
        var granted: (began: Int, ended: Int)?
        var denied: (began: Int, ended: Int)?
    }

    private static func isBad(_ number: Int) -> Bool { number % 23 == 7 }

    private static func live(
        _ random: inout SeededRandom,
        on bench: Bench,
        _ vendors: [SimulatedVendor]
    ) async throws -> Promises {
        var promises = Promises()
        let service = try bench.service(vendors) { configuration in
            configuration.defaultConsent = .unknown
            configuration.journal.byteLimit = 64 << 10
        }
        try service.grantConsent(for: .analytics)
        try service.grantConsent(for: .performance)
        for number in 0..<60 {
            let purpose =
                [ConsentPurpose.analytics, .analytics, .performance, .marketing]
                .randomElement(using: &random) ?? .analytics
            var parameters: [String: AnalyticsValue] = ["number": .integer(number)]
            // Some are large, so that there are several segments.
            if Int.random(in: 0..<6, using: &random) == 0 {
                let words = [String](
                    repeating: "lorem",
                    count: Int.random(in: 1...700, using: &random)
                )
                parameters["text"] = .string(words.joined(separator: " "))
            }
            let event = AnalyticsEvent(name: "a", parameters: parameters, purpose: purpose)
            if service.trackEvent(event) != nil {
                promises.tracked.append((number, purpose, bench.files.steps.count))
            }
            switch Int.random(in: 0..<40, using: &random) {
            case 0..<8: await service.flush()
            case 8: service.setSuperProperties(["turn": .integer(number)])
            case 9 where promises.granted == nil:
                let began = bench.files.steps.count
                try service.grantConsent(for: .marketing)
                promises.granted = (began, bench.files.steps.count)
            case 10 where promises.denied == nil:
                let began = bench.files.steps.count
                try service.denyConsent(for: .performance)
                promises.denied = (began, bench.files.steps.count)
            default: break
            }
        }
        return promises
    }

    @Test("A kill at any step loses no acknowledged event, duplicates none, and ledgers balance")
    func everyPoint() async throws {
        var (points, seed) = (0, UInt64(0))
        while points < Self.pointCount {
            seed += 1
            var random = SeededRandom(seed: seed)
            let bench = Bench()
            let vendors = SimulatedVendor.everyKind(on: bench.files, seed: seed)
            let promises = try await Self.live(&random, on: bench, vendors)
            var disk = SimulatedDisk()
            for (count, step) in bench.files.steps.enumerated() {
                var left = disk
                let torn = Bool.random(using: &random) ? Int.random(in: 1...40, using: &random) : 0
                if torn > 0 { left.repeat(step, upTo: torn) }
                try await Self.check(left, count, promises, vendors, "seed \(seed), step \(count)")
                points += 1
                if points == Self.pointCount { break }
                disk.repeat(step)
            }
        }
        print("\(points) crash points in \(seed) lives: 0 lost, 0 twice, every ledger balanced")
    }

    /// Opens the disk once more, and accounts for every event.
    private static func check(
        _ disk: SimulatedDisk,
        _ count: Int,
        _ promises: Promises,
        _ before: [SimulatedVendor],
        _ comment: String
    ) async throws {
        let bench = Bench(disk)
        let vendors = before.map { $0.secondLife(after: count) }
        let service = try bench.service(vendors) { configuration in
            configuration.defaultConsent = .unknown
            configuration.journal.byteLimit = 64 << 10
        }
        let isGranted = service.consent(for: .analytics) == .granted
        let drained = await service.flush()
        // A single bad event waits for another, which distinguishes it from a vendor that is down.
        let isHeld = service.status.destinations["halves"]?.problem != nil
        #expect(drained || isHeld, "\(comment)")
        let bad = promises.tracked.count { isBad($0.number) }
        let acknowledged = promises.tracked.filter { $0.steps <= count }
        // One more may exist, although its call did not return.
        let next = promises.tracked.first { $0.steps > count }.map(\.number)
        let denial = promises.denied
        let mayBePurged = denial.map { $0.began <= count } ?? false
        let mustBePurged = denial.map { $0.ended <= count } ?? false
        let isMarketed = service.consent(for: .marketing) == .granted
        let ledgers = try service.ledgers()
        for vendor in vendors {
            let ledger = try #require(ledgers[vendor.name])
            let text = "\(comment), \(vendor.name): \(ledger)"
            #expect(ledger.isBalanced, "\(text)")
            let accepted = acknowledged.count...acknowledged.count + (next == nil ? 0 : 1)
            #expect(accepted.contains(ledger.accepted), "\(text), \(acknowledged.count)")
            // Nothing counts twice: neither an id nor an event under two ids.
            let numbers = vendor.numbers
            #expect(Set(numbers).count == numbers.count, "\(text)")
            #expect(numbers.allSatisfy { !isBad($0) }, "\(text)")
            #expect(
                numbers.allSatisfy { number in
                    number == next || acknowledged.contains { $0.number == number }
                },
                "\(text)"
            )
            guard isGranted else { continue }
            let got = Set(numbers)
            let missing = acknowledged.filter { event in
                guard !got.contains(event.number), !isBad(event.number) else { return false }
                switch event.purpose {
                case .performance: return !mayBePurged
                case .marketing: return isMarketed
                default: return true
                }
            }
            if vendor.guarantee == .effectivelyOnce {
                #expect(missing.isEmpty, "\(text), lost \(missing.map(\.number))")
                #expect(ledger.rejected["unconfirmed"] == nil, "\(text)")
                // The test's own counts of held, refused and delivered events.
                let held = acknowledged.count { $0.purpose == .marketing }
                let alone = isHeld && vendor.name == "halves" ? bad : 0
                if !isMarketed {
                    let most = held + (next == nil ? 0 : 1) + alone
                    #expect((held...most).contains(ledger.pending), "\(text)")
                } else {
                    #expect(ledger.pending <= alone, "\(text)")
                }
                #expect(ledger.delivered <= got.count, "\(text)")
                #expect(ledger.delivered >= got.count - ledger.purged, "\(text)")
            } else {
                #expect(missing.count <= ledger.rejected["unconfirmed"] ?? 0, "\(text)")
            }
            if mustBePurged {
                let waiting = acknowledged.filter { $0.purpose == .performance }.count { event in
                    !got.contains(event.number) && !isBad(event.number)
                }
                #expect(ledger.purged + (ledger.rejected["unconfirmed"] ?? 0) >= waiting, "\(text)")
            }
            // No byte before the grant.
            let early = vendor.firstSteps(of: .marketing)
            if let early { #expect(promises.granted.map { early >= $0.began } ?? false, "\(text)") }
        }
        guard isHeld else { return }
        service.trackEvent("a", parameters: ["number": 10_000])
        #expect(await service.flush(), "\(comment)")
        let ledger = try #require(try service.ledgers()["halves"])
        #expect(ledger.rejected["refused"].map { $0 <= bad } ?? false, "\(comment): \(ledger)")
        #expect(ledger.isBalanced)
    }
}

extension Bench {
    fileprivate func service(
        _ vendors: [SimulatedVendor],
        change: (inout AnalyticsConfiguration) -> Void
    ) throws -> AnalyticsService {
        try service(change: { configuration in
            for vendor in vendors { configuration.add(vendor) }
            change(&configuration)
        })
    }
}
