#if SQLite
import Foundation
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import Testing

/// What a power failure leaves of a store, at any moment of a run that compacts the file on the way.
///
/// A program records what SQLite writes and synchronises (`PowerRecorder`); here the files are built as they
/// may be after a failure at a moment, with what was not synchronised dropped, torn or out of order.
@Suite("Power failures under SQLite", .serialized, .timeLimit(.minutes(20)))
struct PowerTests {
    private static let batchCount = 160

    /// `KEEL_POWER_POINTS` asks for a longer run, `KEEL_SEED` repeats one.
    private static var pointCount: Int {
        ProcessInfo.processInfo.environment["KEEL_POWER_POINTS"].flatMap { Int($0) } ?? 60
    }

    /// Runs the writer and returns its log.
    private func record(_ durability: String, in folder: TemporaryFolder) throws -> PowerLog {
        let log = folder.file("log")
        let process = Process()
        process.executableURL = try CrashTrial.program("KeelStorageCrashWriter")
        process.arguments = [
            folder.file().path, "power", log.path, durability, String(Self.batchCount),
        ]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return try PowerLog(log)
    }

    @Test(
        "nothing acknowledged is lost by what it is promised to survive",
        arguments: ["power", "process"]
    )
    func failures(_ durability: String) async throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["KEEL_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
        print("KEEL_SEED=\(seed) KEEL_POWER_POINTS=\(Self.pointCount) \(durability)")
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let log = try record(durability, in: folder)
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
        // A failure that takes nothing from the weaker setting would prove nothing about the stronger.
        #expect((lostCount > 0) == (durability == "process"))
        print("\(log.records.count) records, \(lostCount) batches gone")
    }

    /// The number of the last batch in what is left, after checking that the store is whole.
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
