#if TestServer
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import KeelTestKit
import KeelTestServer
import KeelTestSupport
import Synchronization
import Testing

@Suite("Transfers over real sockets", .timeLimit(.minutes(10)))
struct TransferFaultTests {
    /// Returns the answer to a request's `Range`.
    private static func answer(_ request: HTTPTestRequest, _ content: [UInt8]) -> HTTPTestAnswer {
        let tag = #""one""#
        guard request["If-Range"] == tag, let range = request["Range"],
            let first = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" })
        else { return .bytes(content, headers: [.eTag: tag]) }
        return .bytes(
            Array(content[first...]),
            status: .partialContent,
            headers: [
                .eTag: tag,
                .contentRange: "bytes \(first)-\(content.count - 1)/\(content.count)",
            ]
        )
    }

    @Test("The file is complete although bodies break off at random offsets")
    func brokenBodies() async throws {
        let content = Fixture.bytes(400_000)
        let count = TestLength.count("KEEL_TRANSFER_CUTS", 30, thorough: 100)
        let transport = AsyncHTTPClientTransport()
        var random = SeededRandom(seed: 11)
        var cuts: [(offset: Int, action: HTTPTestAnswer.Action)] = []
        for _ in 0..<count {
            let action = [HTTPTestAnswer.Action.close, .cut, .reset].randomElement(using: &random)
            cuts.append((Int.random(in: 0...60_000, using: &random), action ?? .close))
        }
        let plan = Plan(cuts)
        try await FaultServer.run(
            answering: { request in
                let answer = Self.answer(request, content)
                guard let cut = plan.next() else { return answer }
                return answer.interrupted(.insideBody(after: cut.offset), by: cut.action)
            },
            operation: { server in
                var rounds = 0
                while plan.isLeft || rounds == 0 {
                    let scratch = try Scratch()
                    let receipt = try await Self.download(server, scratch, transport).run()
                    #expect(receipt.byteCount == Int64(content.count))
                    #expect(receipt.restarts == 0)
                    #expect(try scratch.bytes("film") == content)
                    #expect(scratch.names == ["film"])
                    rounds += 1
                }
                #expect(server.requests.count >= count)
                print("\(count) bodies broken off in \(rounds) downloads, all identical")
            }
        )
        await transport.shutdown()
    }

    @Test("A stalled body is abandoned after the idle limit, and the rest is requested")
    func stalledBody() async throws {
        let content = Fixture.bytes(200_000)
        let transport = AsyncHTTPClientTransport()
        let plan = Plan([(100_000, .stall)])
        try await FaultServer.run(
            answering: { request in
                let answer = Self.answer(request, content)
                guard let cut = plan.next() else { return answer }
                return answer.interrupted(.insideBody(after: cut.offset), by: cut.action)
            },
            operation: { server in
                let scratch = try Scratch()
                let events = Events()
                let download = try Self.download(
                    server,
                    scratch,
                    transport,
                    idle: .milliseconds(200)
                )
                _ = try await download.run(observer: events.observer)
                #expect(try scratch.bytes("film") == content)
                // On a busy machine, an attempt may end before it has begun.
                #expect(!events.pauses.isEmpty)
                #expect(server.requests.count >= 2)
                #expect(events.restarts.isEmpty)
            }
        )
        await transport.shutdown()
    }

    @Test("A slow body arrives")
    func slowBody() async throws {
        let content = Fixture.bytes(3000)
        let transport = AsyncHTTPClientTransport()
        try await FaultServer.run(
            answering: { request in
                Self.answer(request, content).throttled(bytes: 100, every: .milliseconds(2))
            },
            operation: { server in
                let scratch = try Scratch()
                _ = try await Self.download(server, scratch, transport).run()
                #expect(try scratch.bytes("film") == content)
            }
        )
        await transport.shutdown()
    }

    @Test("A second download to the same file is rejected, even from another process")
    func twoAtOnce() async throws {
        let content = Fixture.bytes(50_000)
        let transport = AsyncHTTPClientTransport()
        let clock = TestClock()
        let answers = Counter()
        try await FaultServer.run(
            .init(clock: clock),
            answering: { request in
                let isFirst = answers.next() == 1
                let answer = Self.answer(request, content)
                // Delayed until the test advances the clock.
                return isFirst ? answer.delayed(by: .seconds(1)) : answer
            },
            operation: { server in
                let scratch = try Scratch()
                let download = try Self.download(server, scratch, transport)
                async let first = download.run()
                try await server.waitForRequests(1)
                await expectError(TransferError.self, .inUse) { _ = try await download.run() }
                let other = Process()
                other.executableURL = try CrashTrial.program("KeelTransferProgram")
                other.arguments = [
                    "download", scratch.path + "/film", server.address("/film"), "1000",
                ]
                other.standardOutput = FileHandle.nullDevice
                let output = Pipe()
                other.standardError = output
                let (ended, ending) = AsyncStream<Void>.makeStream()
                other.terminationHandler = { _ in ending.finish() }
                try other.run()
                for await _ in ended {}
                let text = String(
                    decoding: output.fileHandleForReading.availableData,
                    as: UTF8.self
                )
                #expect(text.contains("inUse"), "\(text)")
                await clock.advance(by: .seconds(1), onceAsleep: 1)
                _ = try await first
                #expect(try scratch.bytes("film") == content)
            }
        )
        await transport.shutdown()
    }

    /// The cuts to make, and their positions.
    private final class Plan: Sendable {
        private let left: Mutex<[(offset: Int, action: HTTPTestAnswer.Action)]>

        init(_ cuts: [(offset: Int, action: HTTPTestAnswer.Action)]) { left = Mutex(cuts) }

        var isLeft: Bool { left.withLock { !$0.isEmpty } }

        func next() -> (offset: Int, action: HTTPTestAnswer.Action)? {
            left.withLock { $0.popLast() }
        }
    }

    private static func download(
        _ server: FaultServer,
        _ scratch: Scratch,
        _ transport: AsyncHTTPClientTransport,
        idle: Duration = .seconds(60)
    ) throws -> ResumableDownload {
        let address = try #require(URL(string: server.address("/")))
        var client = NetworkClient.Configuration(baseURL: address)
        client.idleTimeout = idle
        var configuration = ResumableDownload.Configuration()
        configuration.checkpointByteCount = 16_000
        configuration.retry.policy = RetryPolicy(
            attempts: 1000,
            baseDelay: .milliseconds(1),
            maximumDelay: .milliseconds(2)
        )
        return ResumableDownload(
            from: try #require(URL(string: server.address("/film"))),
            to: scratch.url("film"),
            through: NetworkClient(client, transport: transport),
            configuration: configuration
        )
    }
}
#endif
