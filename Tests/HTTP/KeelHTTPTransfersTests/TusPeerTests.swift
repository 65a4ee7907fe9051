#if os(Linux) || os(macOS)
import Foundation
import KeelAsyncHTTPClient
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import KeelTestSupport
import Testing

/// Uploads to the tus server of PyPI's `resumable-upload`, with processes killed on either side.
@Suite(
    "Uploads to PyPI's resumable-upload",
    .serialized,
    .enabled(if: TusServer.interpreter != nil, TusServer.absence),
    .timeLimit(.minutes(30))
)
struct TusPeerTests {
    @Test("A killed client resumes its upload, and the server receives the file once")
    func killedClients() async throws {
        let kills = TestLength.count("KEEL_TRANSFER_KILLS", 8, thorough: 20)
        let tus = try TusServer()
        let server = try await tus.start()
        let source = try Scratch()
        let content = Fixture.bytes(3 << 20, seed: 7)
        try Data(content).write(to: source.url("film"))
        var done = 0
        var finished = 0
        var last: Int64 = 0
        while done < kills || finished == 0 {
            let life: [Int64]? = try await CrashTrial.run(
                "KeelTransferProgram",
                [
                    "upload-tus", source.path + "/film", try tus.address.absoluteString,
                    "\(32 << 10)",
                ],
                killedAfter: .microseconds(Int.random(in: 0...(done < kills ? 150_000 : 900_000))),
                waitsForLife: true
            )
            guard let life else {
                finished += 1
                last = 0
                continue
            }
            done += 1
            if life.count > 1 { #expect(life[1] >= last, "kill \(done)") }
            last = max(last, life.last ?? 0)
            // A complete upload may be forgotten before the kill, so that the next one starts over.
            if last == Int64(content.count) { last = 0 }
        }
        await server.kill()
        let stored = try tus.contents()
        #expect(stored.filter { $0 == content }.count >= finished)
        #expect(stored.allSatisfy { content.starts(with: $0) })
        print("\(done) kills of an uploading process, \(finished) uploads finished, all identical")
    }

    @Test("After a server restart, the upload asks for the offset and resumes")
    func killedServers() async throws {
        let kills = TestLength.count("KEEL_TRANSFER_SERVER_KILLS", 3, thorough: 6)
        let tus = try TusServer()
        let source = try Scratch()
        let content = Fixture.bytes(3 << 20, seed: 8)
        try Data(content).write(to: source.url("film"))
        let transport = AsyncHTTPClientTransport()
        var server = try await tus.start()
        var done = 0
        var rounds = 0
        while done < kills {
            let upload = try Self.upload(source.url("film"), tus, transport) {
                $0.pieceByteCount = 32 << 10
            }
            async let receipt = upload.run()
            for _ in 0..<3 where done < kills {
                // Real time, because these are real processes killed at arbitrary moments.
                try await Task.sleep(for: .microseconds(Int.random(in: 0...80_000)))
                await server.kill()
                done += 1
                server = try await tus.start()
            }
            #expect(try await receipt.byteCount == Int64(content.count))
            rounds += 1
            #expect(source.names == ["film"])
        }
        await server.kill()
        await transport.shutdown()
        let stored = try tus.contents()
        #expect(stored.filter { $0 == content }.count >= rounds)
        print("\(done) kills of a tus server, \(rounds) uploads finished")
    }

    @Test("Uploading a large file takes at most 16 MiB of memory")
    func memory() async throws {
        let size = TestLength.count("KEEL_TRANSFER_MIB", 128, thorough: 256)
        let source = try Scratch()
        let block = Fixture.bytes(1 << 20, seed: 10)
        try source.writeLarge("large", block, count: size)
        let tus = try TusServer()
        let server = try await tus.start(["--max-size", "\(size << 20)"])
        let growth = try await DownloadPeerTests.growth(
            ["upload-tus", source.path + "/large", try tus.address.absoluteString, "\(32 << 20)"]
        )
        await server.kill()
        #expect(growth <= 16 * 1024, "KiB")
        try #expect(tus.storedFile(consistsOf: block) == size << 20)
        print("\(size) MiB uploaded to tus, the process grew by \(growth) KiB")
    }

    #if Crypto
    @Test("Checksums of chunks are sent and accepted, and wrong ones are detected")
    func checksums() async throws {
        let tus = try TusServer()
        let server = try await tus.start(["--checksum-algorithms", "sha256"])
        let source = try Scratch()
        let content = Fixture.bytes(100_000, seed: 9)
        try Data(content).write(to: source.url("film"))
        let transport = AsyncHTTPClientTransport()
        let good = try Self.upload(source.url("film"), tus, transport) {
            $0.pieceByteCount = 30_000
            $0.pieceChecksum = ResumableUpload.PieceChecksum("sha256") { PlainSHA256() }
        }
        _ = try await good.run()
        #expect(try tus.contents().contains(content))
        let bad = try Self.upload(source.url("film"), tus, transport) {
            $0.retry.policy.attempts = 2
            $0.retry.policy.baseDelay = .milliseconds(1)
            $0.pieceChecksum = ResumableUpload.PieceChecksum("sha256") {
                PlainSHA256(isWrong: true)
            }
        }
        await expectError(TransferError.self, .unavailable) { _ = try await bad.run() }
        try await bad.discard()
        await transport.shutdown()
        await server.kill()
        // A discarded upload is gone from the server and from this side.
        #expect(try tus.contents() == [content])
        #expect(source.names == ["film"])
    }
    #endif

    @Test("A file beyond the server's limit is rejected before any byte is sent")
    func tooLarge() async throws {
        let tus = try TusServer()
        let server = try await tus.start(["--max-size", "1000"])
        let source = try Scratch()
        try Data(Fixture.bytes(1001)).write(to: source.url("film"))
        let transport = AsyncHTTPClientTransport()
        let upload = try Self.upload(source.url("film"), tus, transport)
        await expectError(TransferError.self, .tooLarge) { _ = try await upload.run() }
        await transport.shutdown()
        await server.kill()
    }

    static func upload(
        _ file: URL,
        _ tus: TusServer,
        _ transport: AsyncHTTPClientTransport,
        _ change: (inout ResumableUpload.Configuration) -> Void = { _ in }
    ) throws -> ResumableUpload {
        var configuration = ResumableUpload.Configuration()
        configuration.retry.policy.baseDelay = .milliseconds(5)
        // The next server may start slowly on a busy machine.
        configuration.retry.policy.attempts = 1000
        configuration.retry.policy.maximumDelay = .milliseconds(50)
        configuration.metadata = ["filename": "film"]
        change(&configuration)
        let address = try tus.address
        return ResumableUpload(
            of: file,
            to: address,
            through: NetworkClient(baseURL: address, transport: transport),
            protocol: .tus,
            configuration: configuration
        )
    }
}
#endif
