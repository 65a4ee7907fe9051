#if os(Linux) || os(macOS)
import Foundation
import KeelAsyncHTTPClient
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import KeelTestSupport
import Synchronization
import Testing

/// Downloads from nginx, with processes killed on either side.
@Suite(
    "Downloads from nginx",
    .serialized,
    .enabled(if: Nginx.program != nil, Nginx.absence),
    .timeLimit(.minutes(30))
)
struct DownloadPeerTests {
    @Test("A killed client resumes after all reported bytes, and the file matches the server's")
    func killedClients() async throws {
        let kills = TestLength.count("KEEL_TRANSFER_KILLS", 8, thorough: 20)
        let nginx = try Nginx()
        let content = Fixture.bytes(6 << 20)
        try nginx.put("film", content)
        let server = try await nginx.start()
        let target = try Scratch()
        var done = 0
        var finished = 0
        var last: Int64 = 0
        while done < kills || finished == 0 {
            let life: [Int64]? = try await CrashTrial.run(
                "KeelTransferProgram",
                [
                    "download", target.path + "/film",
                    try nginx.address("slow/film").absoluteString,
                    "\(128 << 10)",
                ],
                killedAfter: .microseconds(Int.random(in: 0...(done < kills ? 120_000 : 900_000))),
                waitsForLife: true
            )
            if let life {
                done += 1
                // The first report after the initial 0 counts the bytes of earlier lives.
                if life.count > 1 { #expect(life[1] >= last, "kill \(done)") }
                last = max(last, life.last ?? 0)
            }
            guard target.names.contains("film") else { continue }
            #expect(try target.bytes("film") == content)
            // A process killed just after the rename leaves notes for the next one.
            let names = target.names.filter { life == nil || !$0.hasPrefix(".keel-film.") }
            #expect(names == ["film"])
            try FileManager.default.removeItem(atPath: target.path + "/film")
            finished += 1
            last = 0
        }
        await server.kill()
        #expect(finished > 0)
        print("\(done) kills of a downloading process, \(finished) files finished, all identical")
    }

    @Test("A download waits while the server is down and resumes with the next one")
    func killedServers() async throws {
        let kills = TestLength.count("KEEL_TRANSFER_KILLS", 8, thorough: 20)
        let nginx = try Nginx()
        let content = Fixture.bytes(4 << 20, seed: 2)
        try nginx.put("film", content)
        let transport = AsyncHTTPClientTransport()
        let target = try Scratch()
        var done = 0
        while done < kills {
            var server = try await nginx.start()
            let download = try Self.download(nginx.address("slow/film"), target, transport)
            async let receipt = download.run()
            for _ in 0..<5 where done < kills {
                // Real time, because these are real processes killed at arbitrary moments.
                try await Task.sleep(for: .microseconds(Int.random(in: 0...50_000)))
                await server.kill()
                done += 1
                server = try await nginx.start()
            }
            #expect(try await receipt.byteCount == Int64(content.count))
            #expect(try target.bytes("film") == content)
            await server.kill()
        }
        await transport.shutdown()
        print("\(done) kills of a serving process")
    }

    @Test("A changed file at the URL restarts the download")
    func changedFile() async throws {
        let nginx = try Nginx()
        let content = Fixture.bytes(3 << 20, seed: 3)
        try nginx.put("film", Fixture.bytes(3 << 20, seed: 4))
        let server = try await nginx.start()
        let transport = AsyncHTTPClientTransport()
        let target = try Scratch()
        let download = try Self.download(nginx.address("slow/film"), target, transport)
        try await Self.runUntil(512 << 10, download)
        let part = try #require(try await download.progress())
        #expect(part.completedBytes >= 512 << 10)
        // nginx derives its tag from length and date in seconds, so the length must differ.
        try nginx.put("film", content + [1])
        let events = Events()
        let receipt = try await download.run(observer: events.observer)
        #expect(events.restarts == [.changed])
        #expect(receipt.resumedBytes == 0)
        #expect(try target.bytes("film") == content + [1])
        #expect(target.names == ["film"])
        await transport.shutdown()
        await server.kill()
    }

    @Test("A download resumes from another URL of the same file")
    func changedAddress() async throws {
        let nginx = try Nginx()
        let content = Fixture.bytes(3 << 20, seed: 5)
        try nginx.put("film", content)
        let server = try await nginx.start()
        let transport = AsyncHTTPClientTransport()
        let target = try Scratch()
        let first = try Self.download(nginx.address("slow/film?signature=1"), target, transport)
        try await Self.runUntil(512 << 10, first)
        let second = try Self.download(
            nginx.address("fast/film?signature=2"),
            target,
            transport,
            .resume
        )
        let receipt = try await second.run()
        #expect(receipt.resumedBytes >= 512 << 10)
        #expect(try target.bytes("film") == content)
        await transport.shutdown()
        await server.kill()
    }

    @Test("Downloading a large file takes at most 16 MiB of memory")
    func memory() async throws {
        let size = TestLength.count("KEEL_TRANSFER_MIB", 128, thorough: 256)
        let nginx = try Nginx()
        try nginx.folder.writeLarge("files/large", Fixture.bytes(1 << 20, seed: 6), count: size)
        let server = try await nginx.start()
        let target = try Scratch()
        let growth = try await Self.growth(
            ["download", target.path + "/large", try nginx.address("fast/large").absoluteString]
                + ["\(32 << 20)"]
        )
        await server.kill()
        #expect(growth <= 16 * 1024, "KiB")
        let attributes = try FileManager.default.attributesOfItem(atPath: target.path + "/large")
        #expect(attributes[.size] as? Int == size << 20)
        print("\(size) MiB downloaded, the process grew by \(growth) KiB")
    }

    /// Runs the program to its end, and returns by how many KiB its memory grew.
    static func growth(_ arguments: [String]) async throws -> Int {
        let run = try await ProgramRun(try CrashTrial.program("KeelTransferProgram"), arguments)
        #expect(run.exitCode == 0, "\(run.errors)")
        return try #require(Int(run.errors.filter(\.isNumber)), "\(run.errors)")
    }

    /// Runs a download, and pauses it once a number of bytes is safe.
    static func runUntil(_ count: Int64, _ download: ResumableDownload) async throws {
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        let running = Mutex<Task<Void, any Error>?>(nil)
        // The report itself pauses the download, which could be complete before another task has heard of it.
        let observer = ResumableTransferObserver.events { event in
            guard case .progress(let progress) = event, progress.completedBytes >= count else {
                return
            }
            running.withLock { $0 }?.cancel()
        }
        let run = Task {
            for await _ in begins {}
            _ = try await download.run(observer: observer)
        }
        running.withLock { $0 = run }
        begin.finish()
        await #expect(throws: TransferError.self) { try await run.value }
    }

    static func download(
        _ address: URL,
        _ target: Scratch,
        _ transport: AsyncHTTPClientTransport,
        _ changedAddress: ResumableDownload.ChangedAddress = .restart
    ) throws -> ResumableDownload {
        var configuration = ResumableDownload.Configuration()
        configuration.changedAddress = changedAddress
        configuration.checkpointByteCount = 128 << 10
        configuration.retry.policy.baseDelay = .milliseconds(5)
        // The next server may start slowly on a busy machine.
        configuration.retry.policy.attempts = 1000
        configuration.retry.policy.maximumDelay = .milliseconds(50)
        let home = URL(string: "/", relativeTo: address)?.absoluteURL
        return ResumableDownload(
            from: address,
            to: target.url("film"),
            through: NetworkClient(baseURL: try #require(home), transport: transport),
            configuration: configuration
        )
    }
}
#endif
