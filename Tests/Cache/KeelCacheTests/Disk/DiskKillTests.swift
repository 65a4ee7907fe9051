import Foundation
import KeelCache
import KeelTestSupport
import Testing

/// Kills a writing process at random moments, and checks what it leaves.
///
/// The process (`KeelCacheCrashWriter`) prints the number of each step once it has returned. Every
/// printed step must be complete; any part of the step in progress may be done.
@Suite("Killing a writer of the disk tier", .serialized)
struct DiskKillTests {
    /// `KEEL_KILLS` sets the length of the run.
    private static let killCount = TestLength.count("KEEL_KILLS", 15, thorough: 25)

    @Test("kill -9 at random moments loses nothing accepted and restores nothing removed")
    func kills() async throws {
        let folder = DiskFolder()
        var model = Model()
        var next = 1
        var steps = 0
        for trial in 0..<Self.killCount {
            let life: [Int]? = try await CrashTrial.run(
                "KeelCacheCrashWriter",
                [folder.url.path, String(next)],
                killedAfter: .microseconds(Int.random(in: 500...20_000)),
                waitsForLife: !trial.isMultiple(of: 7)
            )
            let printed = try #require(life, "the writer ended by itself")
            #expect(printed == Array(next..<next + printed.count))
            steps += printed.count
            for step in printed { model.apply(step) }
            next += printed.count
            var after = model
            after.apply(next)
            let tier = try folder.tier(limit: 64 << 20) { $0.segmentByteCount = 32 << 10 }
            for key in 0..<40 {
                let found = try await tier.value("key-\(key)").map { try Self.step(of: $0) }
                let before = model.steps[key]
                // The step in progress may have written the key without removing it.
                let isAllowed =
                    found == before || found == after.steps[key]
                    || (key == next % 40 && found == next)
                #expect(isAllowed, "trial \(trial), step \(next), key \(key)")
                // The next process continues from this state.
                model.steps[key] = found
            }
            let usage = try await tier.usage()
            #expect(usage.damagedCount == 0)
            #expect(usage.evictionCount == 0)
            await tier.close()
            next += 1
        }
        // Processes killed before they wrote anything would prove nothing. On a slow machine a
        // process may complete no more than the step that most trials wait for.
        #expect(steps > Self.killCount / 2, "only \(steps) steps")
        print("\(Self.killCount) kills, \(steps) steps, all as they were left")
    }

    /// The step that wrote the value of each key, as in the writer.
    private struct Model {
        var steps: [Int: Int] = [:]

        mutating func apply(_ step: Int) {
            steps[step % 40] = step
            if step % 5 == 0 { steps[(step + 7) % 40] = nil }
            if step % 50 == 0 { steps = steps.filter { $0.value % 3 != step / 50 % 3 } }
        }
    }

    /// Returns the step that wrote a value, after checking all of it.
    private static func step(of value: [UInt8]) throws -> Int {
        let number = value.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
        let count = number % 23 == 0 ? 50_000 : number * 37 % 3000
        let filling = UInt8(truncatingIfNeeded: number)
        let isWhole = value.count == 8 + count && value.dropFirst(8).allSatisfy { $0 == filling }
        #expect(isWhole, "the value of step \(number) is not what was written")
        return number
    }
}
