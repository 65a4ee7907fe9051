import KeelStorage
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelServing

@Suite("Streams of changes for Firestore's clients")
struct ListenSessionTests {
    @Test("What a client shows equals the query at the time of each consistent point")
    func simulation() async throws {
        let seed = SeededRandom.chosenSeed()
        var (snapshots, resumptions, resets) = (0, 0, 0)
        let runs = TestLength.count("KEEL_LISTEN_RUNS", 400, thorough: 5_000)
        for run in 0..<UInt64(runs) {
            var simulation = ListenSimulation(seed: seed &+ run)
            do {
                try await simulation.run(steps: 150)
            } catch {
                return await report(error, seed: seed &+ run)
            }
            snapshots += simulation.client.snapshotCount
            resumptions += simulation.resumptions
            resets += simulation.resets
        }
        #expect(snapshots > 3 * runs)
        #expect(resumptions > runs / 2)
        #expect(resets > runs / 20)
    }

    /// Reports the shortest run of a seed that fails.
    private func report(_ error: any Error, seed: UInt64) async {
        for steps in 1..<150 {
            var simulation = ListenSimulation(seed: seed)
            do { try await simulation.run(steps: steps) } catch {
                let trace = simulation.trace.suffix(60).joined(separator: "\n")
                Issue.record("KEEL_SEED=\(seed), \(steps) steps: \(error)\n\(trace)")
                return
            }
        }
        Issue.record("KEEL_SEED=\(seed): \(error)")
    }
}
