#if SQLite
import Foundation
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import KeelTestSupport
import Testing

/// The effects of a power failure at any moment of a run that also compacts the file.
///
/// A program records SQLite's writes and syncs (`PowerRecorder`). The test builds the files as they may be after a
/// failure at some moment, with unsynced writes dropped, torn or reordered.
@Suite("Power failures under SQLite", .serialized, .timeLimit(.minutes(20)))
struct PowerTests {
    private static let batchCount = 160

    /// Set `KEEL_POWER_POINTS` for a longer run, `KEEL_SEED` to repeat one.
    private static var pointCount: Int { TestLength.count("KEEL_POWER_POINTS", 10, thorough: 60) }

    /// Runs the writer and returns its log.
    private func record(_ durability: String, in folder: TemporaryFolder) async throws -> PowerLog {
        let log = folder.file("log")
        let run = try await ProgramRun(
            try CrashTrial.program("KeelStorageCrashWriter"),
            [folder.file().path, "power", log.path, durability, String(Self.batchCount)]
        )
        #expect(run.exitCode == 0, "\(run.errors)")
        return try PowerLog(log)
    }

    @Test(
        "acknowledged commits survive the failures that their durability covers",
        arguments: ["power", "process"]
    )
    func failures(_ durability: String) async throws {
        let seed = SeededRandom.chosenSeed()
        print("KEEL_SEED=\(seed) KEEL_POWER_POINTS=\(Self.pointCount) \(durability)")
        var random = SeededRandom(seed: seed)
        let folder = try TemporaryFolder()
        let log = try await record(durability, in: folder)
        let points = (0..<Self.pointCount).map { _ in
            Int.random(in: 0...log.records.count, using: &random)
        }
        var state = PowerState(log)
        var lostCount = 0
        for point in points.sorted() {
            state.advance(to: point)
            for ending in PowerState.Ending.allCases {
                let left = try TemporaryFolder()
                try state.leave(ending, in: left.url, using: &random)
                let last = try await lastBatch(in: left, "\(durability), \(ending) at \(point)")
                if durability == "power" || ending == .killed {
                    #expect(last >= state.acknowledged, "\(durability), \(ending) at \(point)")
                }
                #expect(last <= state.acknowledged + 1, "\(durability), \(ending) at \(point)")
                lostCount += max(0, state.acknowledged - last)
            }
        }
        #expect(state.acknowledged > 0)
        // If the failures lost nothing with the weaker setting, they would prove nothing about the stronger one.
        #expect((lostCount > 0) == (durability == "process"))
        print("\(log.records.count) records, \(lostCount) batches gone")
    }

    /// Returns the number of the last batch that remains, after checking that the store is sound.
    private func lastBatch(in folder: TemporaryFolder, _ what: String) async throws -> Int {
        let adapter = try folder.adapter()
        defer { try? adapter.close() }
        let report = try await adapter.checkIntegrity()
        #expect(report.isSound, "\(what): \(report.problems)")
        let shared = try await adapter.found(DocumentQuery("shared")).documents
        let numbers = Set(shared.map { $0["n"]?.integerValue ?? -1 })
        guard let last = numbers.first else { return 0 }
        #expect(numbers.count == 1 && shared.count == 3, "\(what): half a batch, \(numbers)")
        for document in try await adapter.found(DocumentQuery("own")).documents {
            let rest = Int64(document.path.id) ?? -1
            #expect(
                document["n"]?.integerValue == last - (last - rest) % 20,
                "\(what): \(document.path)"
            )
        }
        try await adapter.set("after/1", [:])
        return Int(last)
    }
}
#endif
