import Foundation
import KeelHTTPCaching
import KeelTestKit
import KeelTestSupport
import Testing

/// Random stacks of all layers of a client, with concurrent calls, two clients whose users change,
/// restarts over a disk cache, and all kinds of bodies and faults.
///
/// After each step the following holds: no call exceeds its time limit; no user sees another's
/// bytes; no credential reaches another origin or a connection without the pinned key; no slot and
/// no body is retained; no `POST` acts twice; a waiting upload does not count as stalled; no cache
/// returns a state older than a completed change.
///
/// A schedule is its seed. `KEEL_STACK_SCHEDULES` sets their number, `KEEL_SEED` the first.
@Suite("Simulated stacks of layers", .timeLimit(.minutes(600)))
struct StackSimulationTests {
    private static let schedules = TestLength.count(
        "KEEL_STACK_SCHEDULES",
        2_500 as UInt64,
        thorough: 20_000
    )
    private static let seed = SeededRandom.chosenSeed()
    private static let parts: UInt64 = TestLength.count(1, thorough: 8)

    @Test("Layers that break a promise are detected", arguments: StackFlaw.allCases)
    func findsFlaws(_ flaw: StackFlaw) {
        let tries: Range<UInt64> = 0..<1000
        let found = tries.first { seed in
            var plan = StackPlan(seed: seed)
            plan.faultRate = 50
            return StackLife(plan, flaw: flaw).run() != nil
        }
        #expect(found != nil, "\(flaw) showed in none of \(tries.count) schedules")
    }

    @Test("The same seed gives the same run", arguments: 0..<20 as Range<UInt64>)
    func repeats(seed: UInt64) {
        let lives = [0, 1].map { _ in
            let life = StackLife(StackPlan(seed: seed), isTraced: true)
            _ = life.run()
            return life.ledger.lines
        }
        #expect(lives[0].count > 1)
        #expect(lives[0] == lives[1])
    }

    @Test("A failing run is reduced to its cause")
    func shrinks() throws {
        let fails = { StackLife($0, flaw: .foreignOrigin).run() != nil }
        let plan = try #require(
            (0..<1000 as Range<UInt64>).lazy.map(StackPlan.init).first(where: fails)
        )
        let smallest = plan.shrunk(while: fails)
        #expect(fails(smallest))
        #expect(smallest.processes.flatMap(\.steps).flatMap(\.calls).count <= 2)
        #expect(smallest.clients.flatMap(\.layers) == [.bearer])
    }

    private struct Outcome: Sendable {
        var tally = StackTally()
        var failure: String?
    }

    @Test("Any stack of layers keeps the promises", arguments: 0..<parts)
    func keepsPromises(part: UInt64) async {
        let count = (Self.schedules + Self.parts - 1) / Self.parts
        let first = Self.seed &+ part &* count
        let outcomes = await LoopThreads.map { thread in Self.live(from: first, thread, count) }
        var total = StackTally()
        for outcome in outcomes {
            total.add(outcome.tally)
            if let failure = outcome.failure { Issue.record("\(failure)") }
        }
        guard outcomes.allSatisfy({ $0.failure == nil }) else { return }
        // Schedules in which little happens would prove nothing. A few hundred may miss an event by chance.
        let least = count < 1_000 ? 0 : Int(count) / 100
        for event in StackEvent.allCases {
            let wanted = event.isRare ? least / 20 : least
            #expect(total[event] >= wanted, "\(event) came too seldom in \(count): \(total)")
        }
    }

    /// Runs the schedules of one thread, up to the first failure.
    private static func live(from first: UInt64, _ thread: Int, _ count: UInt64) -> Outcome {
        var outcome = Outcome()
        for number in stride(from: thread, to: Int(count), by: LoopThreads.count) {
            let plan = StackPlan(seed: first &+ UInt64(number))
            let life = StackLife(plan)
            let failure = life.run()
            outcome.tally.add(life.ledger.tally)
            guard let failure else { continue }
            let smallest = plan.shrunk { StackLife($0).run() != nil }
            let again = StackLife(smallest, isTraced: true)
            let rest = again.run() ?? "It does not show again."
            outcome.failure =
                "seed \(plan.seed): \(failure)\nThe smallest plan found: \(smallest)\n\(rest)\n"
                + again.ledger.lines.joined(separator: "\n")
            return outcome
        }
        return outcome
    }
}
