#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import KeelTestSupport
import Testing

/// Kills a writing process at random moments, and checks what it leaves.
///
/// The process (`KeelStorageCrashWriter`) prints the number of each batch once its commit has returned. Every printed
/// batch must be present; the next one must be present as a whole or not at all.
@Suite("Crash safety of a killed writer", .serialized)
struct CrashSafetyTests {
    /// Set `KEEL_KILLS` for a longer run.
    private static let killCount = TestLength.count("KEEL_KILLS", 40, thorough: 200)

    @Test("kill -9 at random times loses no acknowledged commit and leaves no partial one")
    func kills() async throws {
        let folder = try TemporaryFolder()
        let seed = SeededRandom.chosenSeed()
        print("KEEL_SEED=\(seed) KEEL_KILLS=\(Self.killCount)")
        var random = SeededRandom(seed: seed)
        var next: Int64 = 1
        var lastPosition: ChangeCursor?
        var acknowledgedCount = 0
        for trial in 0..<Self.killCount {
            let life: [Int64]? = try await CrashTrial.run(
                "KeelStorageCrashWriter",
                [folder.file().path, String(next)],
                killedAfter: .microseconds(Int.random(in: 500...25_000, using: &random)),
                // The trial's number, because the batch's number does not change if nothing is written.
                waitsForLife: !trial.isMultiple(of: 7)
            )
            let acknowledged = try #require(life, "the writer ended by itself")
            acknowledgedCount += acknowledged.count
            #expect(acknowledged == Array(next..<next + Int64(acknowledged.count)))
            guard FileManager.default.fileExists(atPath: folder.file().path) else { continue }
            let adapter = try folder.adapter()
            let last = try await Self.lastBatch(in: adapter, trial: trial)
            // A commit may have succeeded without its number being printed.
            let expected = acknowledged.last ?? next - 1
            #expect(last == expected || last == expected + 1, "trial \(trial)")
            if trial % 10 == 0 || trial == Self.killCount - 1 {
                let report = try await adapter.checkIntegrity()
                #expect(report.isSound, "trial \(trial): \(report.problems)")
            }
            var position = ReadRequest(.documents([]))
            position.needsPosition = true
            let now = try await adapter.read(position).position
            if let lastPosition, let now { #expect(now >= lastPosition) }
            lastPosition = now
            try adapter.close()
            next = last + 1
        }
        // Killing processes that have not written anything would prove nothing.
        #expect(acknowledgedCount > Self.killCount / 4, "only \(acknowledgedCount) batches")
        print("\(Self.killCount) kills, \(acknowledgedCount) acknowledged batches, all there")
    }

    /// Returns the number of the last batch in the store, after checking that it is complete.
    private static func lastBatch(
        in adapter: SQLiteStorageAdapter,
        trial: Int
    ) async throws -> Int64 {
        let shared = DocumentQuery(group: "numbers", under: "shared/a")
        guard let first = try await adapter.found(shared).documents.first,
            let number = first["number"]?.integerValue
        else { return 0 }
        for id in ["b", "c"] {
            let other = try await adapter.document(DocumentPath("shared/\(id)/numbers/last"))
            #expect(other?.body == first.body, "trial \(trial): half a batch")
            #expect(other?.updateTime == first.updateTime, "trial \(trial): half a batch")
        }
        let own = try await adapter.found(DocumentQuery("numbers").order(by: "number")).documents
        let kept = max(1, number - 49)...number
        #expect(own.compactMap { $0["number"]?.integerValue } == Array(kept), "trial \(trial)")
        return number
    }
}
#endif
