import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// Uploads to servers with seeded failures, from disks that are inspected after a crash.
@Suite("Uploads under simulated faults", .timeLimit(.minutes(30)))
struct UploadSimulationTests {
    @Test(
        "Under any schedule of faults, the server receives the whole file once",
        arguments: [true, false]
    )
    func faultSchedules(isTus: Bool) async throws {
        let seeds = TestLength.count("KEEL_TRANSFER_SEEDS", 150, thorough: 500)
        var resumed = 0
        var unknown = 0
        // With seed 644, the connection fails right after the last byte.
        for seed in [644] + Array(0..<UInt64(seeds)) {
            var random = SeededRandom(seed: seed)
            let content = Fixture.bytes(Int.random(in: 0...30_000, using: &random), seed: seed)
            let origin = UploadOrigin(tus: isTus, seed: seed, rate: 0.4)
            origin.state.withLock { $0.forgetsFinished = seed % 3 == 0 }
            let files = try Self.disk(content)
            var isDone = false
            for run in 0..<40 where !isDone {
                if run == 30 { origin.calm() }
                let upload = try Self.upload(origin, files) { configuration in
                    if seed % 2 == 0 { configuration.retry.policy = .never }
                }
                do throws(TransferError) {
                    let receipt = try await upload.run()
                    isDone = true
                    if receipt.resumedBytes > 0 { resumed += 1 }
                } catch {
                    if error.code == .outcomeUnknown {
                        // As the error advises: check whether the file has arrived.
                        unknown += 1
                        isDone = !origin.finished.isEmpty
                        try await upload.discard()
                    }
                    let known: [TransferError.Code] = [
                        .connection, .unavailable, .expired, .outcomeUnknown,
                    ]
                    #expect(known.contains(error.code), "seed \(seed): \(error)")
                }
            }
            #expect(isDone, "seed \(seed)")
            #expect(origin.finished == [content], "seed \(seed)")
            #expect(files.disk.paths.keys.sorted() == ["/disk/film.mp4"], "seed \(seed)")
        }
        #expect(resumed > seeds / 50)
        print(
            "\(seeds) schedules of upload faults, \(resumed) continued, \(unknown) unknown outcomes"
        )
    }

    @Test(
        "After a kill at any disk step or request, the server receives the file",
        arguments: [true, false]
    )
    func kills(isTus: Bool) async throws {
        let content = Fixture.bytes(9_500)
        let total = try await Self.requests(isTus, content)
        for cut in 0...total {
            let origin = UploadOrigin(tus: isTus)
            let files = try Self.disk(content)
            // The process dies while its request number `cut` is under way.
            let dying = origin.failing { _ in
                origin.requests.count >= cut ? .fail(.clientShutdown) : nil
            }
            let first = try Self.upload(dying, files, isTus)
            let isDone = (try? await first.run()) != nil
            #expect(isDone == (cut == total))
            let steps = files.steps.count
            for step in [steps, steps - 1, steps - 2] where step >= 2 {
                let left = SimulatedFileSystem(files.disk(afterKillAt: step))
                let receipt = try? await Self.upload(origin, left).run()
                if let receipt { #expect(receipt.byteCount == Int64(content.count)) }
            }
            #expect(origin.finished.contains(content), "cut \(cut)")
            #expect(origin.finished.allSatisfy { $0 == content }, "cut \(cut)")
        }
    }

    private static func requests(_ isTus: Bool, _ content: [UInt8]) async throws -> Int {
        let origin = UploadOrigin(tus: isTus)
        _ = try await upload(origin, disk(content)).run()
        return origin.requests.count
    }

    static func disk(_ content: [UInt8]) throws -> SimulatedFileSystem {
        let files = SimulatedFileSystem()
        let file = try files.open("/disk/film.mp4", for: .creating)
        try file.write(content, at: 0)
        return files
    }

    static func upload(
        _ transport: any HTTPTransport,
        _ files: SimulatedFileSystem,
        _ isTus: Bool? = nil,
        _ change: (inout ResumableUpload.Configuration) -> Void = { _ in }
    ) throws -> ResumableUpload {
        var configuration = ResumableUpload.Configuration()
        configuration.pieceByteCount = 4000
        configuration.retry.jitter = { 0.5 }
        configuration.metadata = ["filename": "film.mp4"]
        change(&configuration)
        let origin = transport as? UploadOrigin
        return ResumableUpload(
            of: Fixture.file,
            to: try Fixture.url("uploads"),
            through: try Fixture.client(transport),
            protocol: isTus ?? origin?.isTus ?? false ? .tus : .ietf,
            configuration: configuration,
            files: files
        )
    }
}
