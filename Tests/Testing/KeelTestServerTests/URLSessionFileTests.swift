#if URLSession && TestServer
import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestServer
import Synchronization
import Testing

private struct AddFilm: Endpoint {
    typealias Response = EmptyResponse
    var path: EndpointPath { "/films" }
}

@Suite("URLSessionTransport sends files over real sockets", .timeLimit(.minutes(2)))
struct URLSessionFileTests {
    /// Runs `body` with a file of the given number of zeros, and the progress reports of its upload.
    private func upload(
        of length: UInt64,
        to server: FaultServer,
        _ body: (Task<EmptyResponse, any Error>, Reports) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: length)
        try handle.close()
        let address = try #require(URL(string: server.address()))
        let client = NetworkClient(baseURL: address, transport: URLSessionTransport())
        let reports = Reports()
        let run = Task {
            try await client.upload(.file(file), to: AddFilm(), observer: reports.observer)
        }
        try await body(run, reports)
    }

    private final class Reports: Sendable {
        private let state = Mutex<[TransferProgress]>([])

        var all: [TransferProgress] { state.withLock { $0 } }

        var observer: TransferObserver {
            .progress { [self] step in state.withLock { $0.append(step) } }
        }
    }

    @Test("A file of any length is sent with network progress")
    func sends() async throws {
        // More than the limit for streamed bodies on Linux.
        let length = 65 << 20
        try await FaultServer.run(answers: [.status(.noContent)]) { server in
            try await upload(of: UInt64(length), to: server) { run, reports in
                _ = try await run.value
                let counts = reports.all.map(\.completedBytes)
                #expect(counts.first == 0)
                #expect(counts.last == Int64(length))
                #expect(counts == counts.sorted())
                #expect(counts.count > 10)
                #expect(reports.all.allSatisfy { $0.totalBytes == Int64(length) })
            }
            let request = try #require(server.requests.first)
            #expect(request.bodyLength == length)
            #expect(request.fields.contains(.init("Content-Length", "\(length)")))
            #expect(
                request.fields.contains { field in
                    field.name.lowercased() == "content-type"
                        && field.value == "application/octet-stream"
                }
            )
        }
    }

    @Test("Bytes that the server has not read are not reported as sent")
    func waitsForNetwork() async throws {
        let length = 256 << 20
        var configuration = FaultServer.Configuration()
        configuration.reading = .atMost(0)
        let silence = HTTPTestAnswer.status(.ok).interrupted(.beforeHead, by: .stall)
        try await FaultServer.run(configuration, answers: [silence]) { server in
            try await upload(of: UInt64(length), to: server) { run, reports in
                // Once the system's buffers are full, URLSession reads no more of the file. On Linux, a task that
                // is cancelled while it waits for the file ends the process, in FoundationNetworking.
                var (sent, still): (Int64, Int) = (0, 0)
                // A busy machine may make no progress for a moment before the buffers are full.
                while still < 6 {
                    try await Task.sleep(for: .milliseconds(500))
                    let now = reports.all.last?.completedBytes ?? 0
                    still = now > 0 && now == sent ? still + 1 : 0
                    sent = now
                }
                run.cancel()
                await #expect(throws: NetworkError.self) { _ = try await run.value }
                // Bytes in the system's buffers count as sent.
                #expect(try #require(reports.all.last).completedBytes < Int64(length / 2))
            }
        }
    }

    @Test("An empty file is sent as an empty body")
    func sendsNothing() async throws {
        try await FaultServer.run(answers: [.status(.noContent)]) { server in
            try await upload(of: 0, to: server) { run, reports in
                _ = try await run.value
                #expect(reports.all == [TransferProgress(completedBytes: 0, totalBytes: 0)])
            }
            #expect(try #require(server.requests.first).bodyLength == 0)
        }
    }
}
#endif
