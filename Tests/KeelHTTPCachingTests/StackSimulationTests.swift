import Foundation
import Testing

/// Random stacks of all layers that a client can have, with several calls at once, two users, all
/// kinds of bodies and faults.
///
/// After each step holds: no call outlives its limit; no user sees another's bytes; no credential
/// reaches an origin that it is not for; no place and no body is held; no `POST` acts twice; an
/// upload that waits is not taken for one that stalls.
///
/// `KEEL_SCHEDULES` says how many schedules, `KEEL_SEED` from which one on.
@Suite("Simulated stacks of layers", .timeLimit(.minutes(30)))
struct StackSimulationTests {
    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    private static let schedules = setting("KEEL_SCHEDULES") ?? 400
    private static let seed = setting("KEEL_SEED") ?? UInt64.random(in: 0..<1 << 32)
    private static let parts: UInt64 = 8

    @Test("Layers that break a promise are found", arguments: StackFlaw.allCases)
    func findsFlaws(_ flaw: StackFlaw) async throws {
        for seed in 0..<100 as Range<UInt64> {
            if try await StackLife(seed: seed, flaw: flaw).run() != nil { return }
        }
        Issue.record("\(flaw) showed in none of 100 schedules")
    }

    @Test("Whatever the stack, the promises hold", arguments: 0..<parts)
    func keepsPromises(part: UInt64) async throws {
        let count = (Self.schedules + Self.parts - 1) / Self.parts
        var total = StackLife.Tally()
        var seen = (renewals: 0, redirects: 0, faults: 0)
        for number in 0..<count {
            let seed = Self.seed &+ part &* count &+ number
            let life = StackLife(seed: seed)
            if let failure = try await life.run() {
                Issue.record("seed \(seed): \(failure)")
                return
            }
            total.answers += life.counts.answers
            total.uploads += life.counts.uploads
            seen.renewals += life.origin.counts.renewals
            seen.redirects += life.origin.counts.redirects
            seen.faults += life.origin.counts.faults
        }
        // Schedules in which little succeeds, or little goes wrong, would prove nothing.
        let least = Int(count) / 4
        #expect(total.answers > least, "only \(total.answers) answers in \(count) schedules")
        #expect(total.uploads > least / 8, "only \(total.uploads) uploads")
        #expect(seen.renewals > least / 8, "only \(seen.renewals) renewals")
        #expect(seen.redirects > least / 8, "only \(seen.redirects) redirects")
        #expect(seen.faults > least, "only \(seen.faults) faults")
    }
}
