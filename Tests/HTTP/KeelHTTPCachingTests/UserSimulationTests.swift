import Foundation
import KeelTestKit
import KeelTestSupport
import Testing

/// Random lives of an app with two sessions over one disk cache: sign-ins, sign-outs and renewals
/// among the calls, restarts, accounts added by a layer below the cache, and coalescing.
///
/// `KEEL_USER_SCHEDULES` sets the number of schedules, `KEEL_SEED` the first.
@Suite("Simulated users of one cache", .timeLimit(.minutes(60)))
struct UserSimulationTests {
    private static let schedules = TestLength.count(
        "KEEL_USER_SCHEDULES",
        250 as UInt64,
        thorough: 2_000
    )
    private static let seed = SeededRandom.chosenSeed()
    private static let parts: UInt64 = TestLength.count(1, thorough: 8)

    @Test(
        "A cache that mixes users and a service that hides accounts are detected",
        arguments: UserFlaw.allCases
    )
    func findsFlaws(_ flaw: UserFlaw) {
        var found = 0
        for seed in 0..<100 as Range<UInt64> {
            if CacheUsersLife(seed: seed, flaw: flaw).run() != nil { found += 1 }
        }
        #expect(found > 3, "\(flaw) showed in \(found) of 100 schedules")
    }

    @Test("No user ever sees another user's bytes", arguments: 0..<parts)
    func keepsUsersApart(part: UInt64) async {
        let count = (Self.schedules + Self.parts - 1) / Self.parts
        let first = Self.seed &+ part &* count
        let outcomes = await LoopThreads.map { thread in Self.live(from: first, thread, count) }
        var total = CacheUsersLife.Tally()
        for outcome in outcomes {
            total.answers += outcome.tally.answers
            total.hits += outcome.tally.hits
            total.hitsAfterRestart += outcome.tally.hitsAfterRestart
            total.overlaps += outcome.tally.overlaps
            if let failure = outcome.failure { Issue.record("\(failure)") }
        }
        guard outcomes.allSatisfy({ $0.failure == nil }) else { return }
        // Schedules in which nothing is stored, found or switched would prove nothing.
        let least = Int(count)
        #expect(total.hits > least, "only \(total.hits) hits in \(count) schedules")
        #expect(total.hitsAfterRestart > least / 4, "only \(total.hitsAfterRestart) of them later")
        #expect(total.overlaps > least / 10, "only \(total.overlaps) calls among sign-ins")
    }

    private struct Outcome: Sendable {
        var tally = CacheUsersLife.Tally()
        var failure: String?
    }

    /// Runs the schedules of one thread, up to the first failure.
    private static func live(from first: UInt64, _ thread: Int, _ count: UInt64) -> Outcome {
        var outcome = Outcome()
        for number in stride(from: thread, to: Int(count), by: LoopThreads.count) {
            let seed = first &+ UInt64(number)
            let life = CacheUsersLife(seed: seed)
            let failure = life.run()
            outcome.tally.answers += life.counts.answers
            outcome.tally.hits += life.counts.hits
            outcome.tally.hitsAfterRestart += life.counts.hitsAfterRestart
            outcome.tally.overlaps += life.counts.overlaps
            guard failure == nil else {
                outcome.failure = "seed \(seed): \(failure ?? "")"
                break
            }
        }
        return outcome
    }
}
