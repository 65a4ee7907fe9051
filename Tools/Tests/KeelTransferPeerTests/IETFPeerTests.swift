import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import Synchronization
import Testing

/// Uploads to `NIOResumableUpload`, with connections cut and processes killed.
@Suite("Uploads to NIOResumableUpload", .serialized, .timeLimit(.minutes(30)))
struct IETFPeerTests {
    private static let kills =
        ProcessInfo.processInfo.environment["KEEL_TRANSFER_KILLS"].flatMap { Int($0) } ?? 20

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }
    }

    @Test("A chunked upload arrives complete, and the application's response is returned")
    func pieces() async throws {
        let server = try await UploadServer()
        for count in [0, 1, 65_536, 300_001] {
            let scratch = try Folder(Self.bytes(count))
            let progress = Mutex<[Int64]>([])
            let receipt = try await scratch.upload(server.port).run(
                observer: .events { event in
                    guard case .progress(let now) = event else { return }
                    progress.withLock { $0.append(now.completedBytes) }
                }
            )
            #expect(receipt.wasResumable)
            #expect(receipt.response?.status == .created)
            #expect(receipt.body == Array("kept".utf8))
            #expect(server.uploads.last == Self.bytes(count))
            #expect(progress.withLock { $0 } == progress.withLock { $0.sorted() })
            #expect(progress.withLock { $0.last } == Int64(count))
            #expect(try scratch.names == ["film"])
        }
        #expect(server.uploads.count == 4)
        try await server.stop()
    }

    @Test("After connections cut at random moments the server has the complete file once")
    func cuts() async throws {
        let server = try await UploadServer()
        let content = Self.bytes(8 << 20)
        var cuts = 0
        var rounds = 0
        while cuts < Self.kills {
            let scratch = try Folder(content)
            let upload = try scratch.upload(server.port)
            let isOver = Mutex(false)
            async let receipt = {
                defer { isOver.withLock { $0 = true } }
                return try await upload.run()
            }()
            while !isOver.withLock({ $0 }), cuts < Self.kills {
                // In real time, because the sockets are real: the moment of the kill is arbitrary.
                try await Task.sleep(for: .microseconds(Int.random(in: 0...15_000)))
                server.cut()
                cuts += 1
            }
            #expect(try await receipt.byteCount == Int64(content.count))
            rounds += 1
        }
        #expect(server.uploads.count == rounds)
        #expect(server.uploads.allSatisfy { $0 == content })
        try await server.stop()
        print("\(cuts) cuts, \(rounds) uploads, each whole and once")
    }

    @Test("An upload restarts if the server has forgotten its uploads")
    func restartedServers() async throws {
        let kept = UploadServer.Kept()
        let content = Self.bytes(4 << 20)
        var server = try await UploadServer(kept: kept)
        let port = server.port
        var stops = 0
        var unknown = 0
        var rounds = 0
        while stops < Self.kills / 2 {
            let scratch = try Folder(content)
            let upload = try scratch.upload(port)
            async let result = { () async -> Result<ResumableUpload.Receipt, TransferError> in
                do throws(TransferError) {
                    return .success(try await upload.run())
                } catch { return .failure(error) }
            }()
            for _ in 0..<2 {
                try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000)))
                try await server.stop()
                stops += 1
                server = try await UploadServer(port: port, kept: kept)
            }
            switch await result {
            case .success(let receipt):
                #expect(receipt.byteCount == Int64(content.count))
                rounds += 1
            case .failure(let error):
                #expect(error.code == .outcomeUnknown)
                unknown += 1
            }
        }
        #expect(rounds > 0)
        #expect(server.uploads.count >= rounds)
        #expect(server.uploads.allSatisfy { $0 == content })
        try await server.stop()
        print("\(stops) servers ended, \(rounds) uploads, \(unknown) unknown outcomes")
    }

    @Test("A killed client resumes its upload, and the server gets the file once")
    func killedClients() async throws {
        let server = try await UploadServer()
        let content = Self.bytes(4 << 20)
        var kills = 0
        var finished = 0
        var unknown = 0
        var scratch = try Folder(content)
        var last: Int64 = 0
        while kills < Self.kills || finished == 0 {
            let delay = Int.random(in: 0...(kills < Self.kills ? 120_000 : 900_000))
            let life = try await scratch.live(server.port, for: .microseconds(delay))
            switch life.end {
            case .killed:
                kills += 1
                if life.numbers.count > 1 { #expect(life.numbers[1] >= last, "kill \(kills)") }
                last = max(last, life.numbers.last ?? 0)
                guard last == Int64(content.count) else { continue }
                // The whole file has arrived; the next run depends on whether its record says so.
                unknown += 1
            case .finished: finished += 1
            case .unknown: unknown += 1
            }
            scratch = try Folder(content)
            last = 0
        }
        #expect(server.uploads.allSatisfy { $0 == content })
        #expect(server.uploads.count >= finished)
        // No file was sent twice: the surplus was complete when its sender was killed.
        #expect(server.uploads.count <= finished + unknown + 1)
        try await server.stop()
        print("\(kills) kills, \(finished) uploads finished, \(unknown) unknown outcomes")
    }

    @Test("A large file needs at most 16 MiB of memory in the uploading process")
    func memory() async throws {
        let size = ProcessInfo.processInfo.environment["KEEL_TRANSFER_MIB"].flatMap { Int($0) }
        let count = size ?? 256
        let block = Self.bytes(1 << 20)
        let kept = UploadServer.Kept(repeating: block)
        let server = try await UploadServer(kept: kept)
        let scratch = try Folder(block, count: count)
        let process = try scratch.uploader(server.port, pieceByteCount: 32 << 20)
        process.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        let (ended, ending) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ending.finish() }
        try process.run()
        for await _ in ended {}
        let text = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
        #expect(process.terminationStatus == 0, "\(text)")
        let growth = try #require(Int(text.filter(\.isNumber)), "\(text)")
        #expect(growth <= 16 * 1024, "KiB")
        // Every byte once, in its place.
        #expect(kept.sameByteCount == count << 20)
        #expect(server.uploads.count == 1)
        try await server.stop()
        print("\(count) MiB uploaded, the process grew by \(growth) KiB")
    }

    @Test("Discarding an upload tells the server")
    func discarding() async throws {
        let server = try await UploadServer()
        let scratch = try Folder(Self.bytes(4 << 20))
        let upload = try scratch.upload(server.port)
        let run = Task {
            try await upload.run(
                observer: .events { event in
                    guard case .progress(let now) = event, now.completedBytes > 0 else { return }
                    // The upload's own task tells of its progress, and sends no other piece before that.
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            )
        }
        await #expect(throws: TransferError.self) { _ = try await run.value }
        #expect(try scratch.names.count == 2)
        try await upload.discard()
        #expect(try scratch.names == ["film"])
        #expect(server.uploads.isEmpty)
        try await server.stop()
    }
}

/// A folder with a file to send.
private final class Folder: Sendable {
    let url: URL

    /// Creates a folder with a file that repeats a block.
    init(_ content: [UInt8], count: Int = 1) throws {
        url = FileManager.default.temporaryDirectory
            .appending(path: "keel-transfer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let file = url.appending(path: "film")
        try Data(content).write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        for _ in 1..<max(1, count) { try handle.write(contentsOf: Data(content)) }
        try handle.close()
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    func upload(_ port: Int) throws -> ResumableUpload {
        let address = try #require(URL(string: "http://127.0.0.1:\(port)/films"))
        var configuration = ResumableUpload.Configuration()
        configuration.pieceByteCount = 64 * 1024
        configuration.retry.policy = RetryPolicy(
            attempts: 1000,
            baseDelay: .milliseconds(2),
            maximumDelay: .milliseconds(20)
        )
        configuration.retry.restartLimit = 1000
        var client = NetworkClient.Configuration(baseURL: address)
        // NIOResumableUpload 1.35.2 answers a part and releases its connection in two separate tasks of another event
        // loop (respondAndDetach). A request on the connection between the two seems to receive no response until the
        // client's timeout, 60 s by default. On a busy machine, a response takes long, and a lost one may be the last.
        client.idleTimeout = .seconds(5)
        client.timeout = .seconds(5)
        return ResumableUpload(
            of: url.appending(path: "film"),
            to: address,
            through: NetworkClient(client, transport: Self.transport),
            configuration: configuration
        )
    }

    private static let transport = AsyncHTTPClientTransport()

    enum End { case killed, finished, unknown }

    /// The uploading program, not started yet.
    func uploader(_ port: Int, pieceByteCount: Int) throws -> Process {
        let process = Process()
        let tests = URL(filePath: CommandLine.arguments[0])
        var program = tests.deletingLastPathComponent()
        for _ in 0..<6 {
            let candidate = program.appending(path: "KeelTransferUploader")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { break }
            program.deleteLastPathComponent()
        }
        process.executableURL = program.appending(path: "KeelTransferUploader")
        process.arguments = [
            url.appending(path: "film").path, "http://127.0.0.1:\(port)/films",
            "\(pieceByteCount)",
        ]
        return process
    }

    /// Runs the uploading program, and kills it.
    func live(_ port: Int, for delay: Duration) async throws -> (end: End, numbers: [Int64]) {
        let process = try uploader(port, pieceByteCount: 64 << 10)
        let output = Pipe()
        process.standardOutput = output
        let (ended, ending) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ending.finish() }
        try process.run()
        var text = output.fileHandleForReading.availableData
        try await Task.sleep(for: delay)
        kill(process.processIdentifier, SIGKILL)
        for await _ in ended {}
        text += output.fileHandleForReading.readDataToEndOfFile()
        let numbers = String(decoding: text, as: UTF8.self).split(separator: "\n")
            .compactMap { Int64($0) }
        guard process.terminationReason == .exit else { return (.killed, numbers) }
        try #require([0, 3].contains(process.terminationStatus))
        return (process.terminationStatus == 0 ? .finished : .unknown, numbers)
    }
}
