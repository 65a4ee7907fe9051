import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// Downloads from origins with seeded failures, to disks that are inspected after a crash.
@Suite("Downloads under simulated faults", .timeLimit(.minutes(30)))
struct DownloadSimulationTests {
    @Test("Under any schedule of faults, the file is one complete version or missing")
    func faultSchedules() async throws {
        let seeds = TestLength.count("KEEL_TRANSFER_SEEDS", 150, thorough: 500)
        var finished = 0
        var resumed = 0
        for seed in 0..<UInt64(seeds) {
            var random = SeededRandom(seed: seed)
            let length = Int.random(in: 0...30_000, using: &random)
            // Half of the schedules only lose data, so that there is something to continue.
            let origin = RangeOrigin(
                Fixture.bytes(length, seed: seed),
                seed: seed,
                rate: 0.5,
                faults: seed % 2 == 0 ? RangeOrigin.Fault.losses : RangeOrigin.Fault.allCases
            )
            let files = SimulatedFileSystem()
            var isDone = false
            for run in 0..<40 where !isDone {
                if run == 30 { origin.calm() }
                let download = try Fixture.download(origin, files) { configuration in
                    if seed % 2 == 0 { configuration.retry.policy.attempts = 1 }
                }
                do throws(TransferError) {
                    let receipt = try await download.run()
                    isDone = true
                    if receipt.resumedBytes > 0 { resumed += 1 }
                } catch {
                    #expect(files.disk["/disk/film.mp4"] == nil, "seed \(seed)")
                    let known: [TransferError.Code] = [
                        .connection, .unavailable, .changing, .refused,
                    ]
                    #expect(known.contains(error.code), "seed \(seed): \(error)")
                }
            }
            #expect(isDone, "seed \(seed)")
            #expect(files.disk["/disk/film.mp4"] == origin.content, "seed \(seed)")
            #expect(files.disk.paths.keys.sorted() == ["/disk/film.mp4"], "seed \(seed)")
            finished += isDone ? 1 : 0
        }
        #expect(finished == seeds)
        // A simulation in which no download is continued would prove nothing.
        #expect(resumed > seeds / 50)
        print("\(seeds) schedules of download faults, \(resumed) of them continued by a later run")
    }

    /// Runs a download, and returns its reports with the number of disk steps before each.
    private func reports(
        _ content: [UInt8],
        _ files: SimulatedFileSystem
    ) async throws -> [(step: Int, bytes: Int64)] {
        let reports = Mutex<[(step: Int, bytes: Int64)]>([])
        _ = try await Fixture.download(RangeOrigin(content), files).run(
            observer: .events { event in
                guard case .progress(let now) = event else { return }
                reports.withLock { $0.append((files.steps.count, now.completedBytes)) }
            }
        )
        return reports.withLock { $0 }
    }

    @Test("After a kill at any disk step, the next run keeps all reported bytes and completes")
    func kills() async throws {
        let content = Fixture.bytes(21_000)
        let files = SimulatedFileSystem()
        let reports = try await reports(content, files)
        #expect(reports.count > 4)
        for step in 0...files.steps.count {
            for torn in [0, 1, 17, 700] {
                let left = SimulatedFileSystem(files.disk(afterKillAt: step, torn: torn))
                let promised = reports.last { $0.step <= step }?.bytes ?? 0
                try await finish(left, content, promised, "step \(step), torn \(torn)")
            }
        }
        print("\(files.steps.count + 1) steps, each killed with 4 tears")
    }

    @Test("After a power failure at any step, no byte is wrong and all reported bytes remain")
    func powerFailures() async throws {
        let content = Fixture.bytes(21_000)
        let files = SimulatedFileSystem()
        let reports = try await reports(content, files)
        var random = SeededRandom(seed: 20)
        for step in 0...files.steps.count {
            for trial in 0..<20 {
                let disk = files.disk(afterPowerFailureAt: step, using: &random)
                // Once the file is in its place, nothing is left to continue.
                let isPlaced = files.steps.prefix(step).contains {
                    if case .rename(_, "/disk/film.mp4") = $0 { true } else { false }
                }
                let promised = isPlaced ? 0 : reports.last { $0.step <= step }?.bytes ?? 0
                let left = SimulatedFileSystem(disk)
                try await finish(left, content, promised, "step \(step), trial \(trial)")
            }
        }
    }

    @Test("A crash at any step of a restart never mixes versions")
    func killsDuringRestart() async throws {
        let old = Fixture.bytes(13_000)
        let files = SimulatedFileSystem()
        let origin = RangeOrigin(old, seed: 4, rate: 1, faults: [.brokenBody])
        let first = try Fixture.download(origin, files) { $0.retry.policy = .never }
        await #expect(throws: TransferError.self) { _ = try await first.run() }
        #expect(try await first.progress()?.completedBytes ?? 0 > 0)
        origin.calm()
        origin.change()
        _ = try await Fixture.download(origin, files).run()
        #expect(files.disk["/disk/film.mp4"] == origin.content)
        var random = SeededRandom(seed: 21)
        for step in 0...files.steps.count {
            for trial in 0..<12 {
                let disk =
                    trial == 0
                    ? files.disk(afterKillAt: step)
                    : files.disk(afterPowerFailureAt: step, using: &random)
                // The server is back at the old version, as which a mixture would be continued.
                for content in [old, origin.content] {
                    let server = RangeOrigin(content)
                    if content != old { server.state.withLock { $0.version = 2 } }
                    let left = SimulatedFileSystem(disk)
                    _ = try await Fixture.download(server, left).run()
                    // A complete part is put in its place without a request.
                    let right = server.requests.isEmpty ? origin.content : content
                    #expect(left.disk["/disk/film.mp4"] == right, "step \(step), trial \(trial)")
                }
            }
        }
    }

    /// Runs a download on the state that a crash left.
    private func finish(
        _ left: SimulatedFileSystem,
        _ content: [UInt8],
        _ promised: Int64,
        _ comment: String
    ) async throws {
        let isThere = left.disk["/disk/film.mp4"] != nil
        if isThere { #expect(left.disk["/disk/film.mp4"] == content, "\(comment)") }
        let origin = RangeOrigin(content)
        let receipt = try await Fixture.download(origin, left).run()
        #expect(left.disk["/disk/film.mp4"] == content, "\(comment)")
        #expect(receipt.byteCount == Int64(content.count))
        if !isThere {
            #expect(receipt.resumedBytes >= promised, "\(comment)")
            #expect(origin.served == Int64(content.count) - receipt.resumedBytes, "\(comment)")
        }
        #expect(left.disk.paths.keys.sorted() == ["/disk/film.mp4"], "\(comment)")
    }
}
