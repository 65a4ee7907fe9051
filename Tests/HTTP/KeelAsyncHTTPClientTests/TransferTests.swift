#if AsyncHTTPClient && TestServer
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Transfers over AsyncHTTPClient and real sockets")
struct TransferTests {
    private func inFolder(_ work: (URL) async throws -> Void) async throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try await work(folder)
    }

    private func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }

    @Test("A form with a file arrives byte for byte, and its progress reaches the end")
    func uploadsForms() async throws {
        let requests = Mutex<[HTTPTestRequest]>([])
        let last = Mutex<TransferProgress?>(nil)
        try await inFolder { folder in
            let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let file = folder.appendingPathComponent("a.bin")
            try content.write(to: file)
            try await AnsweringServer.run { request, write in
                requests.withLock { $0.append(request) }
                try await write(answer())
                return .keepOpen
            } while: { port in
                try await withClient("http://127.0.0.1:\(port)") { client in
                    let form = MultipartForm(
                        [.text("title", "x"), .file("data", at: file)],
                        boundary: "b"
                    )
                    _ = try await client.upload(
                        .multipart(form),
                        to: GetItem(),
                        observer: .progress { step in last.withLock { $0 = step } }
                    )
                }
            }
            let request = try #require(requests.withLock { $0.first })
            var expected = Data(
                ("--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nx\r\n"
                    + "--b\r\nContent-Disposition: form-data; name=\"data\"; filename=\"a.bin\"\r\n"
                    + "Content-Type: application/octet-stream\r\n\r\n").utf8
            )
            expected += content
            expected += Data("\r\n--b--\r\n".utf8)
            #expect(request.line == "POST /item HTTP/1.1")
            #expect(Data(request.body) == expected)
            let length = Int64(expected.count)
            #expect(request["content-length"] == "\(length)")
            #expect(
                last.withLock { $0 } == TransferProgress(completedBytes: length, totalBytes: length)
            )
        }
    }

    /// Changes a file after its length was announced and before it is read.
    private struct Truncation: HTTPMiddleware {
        let file: URL
        let length: UInt64

        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            do {
                let handle = try FileHandle(forWritingTo: file)
                try handle.truncate(atOffset: length)
                try handle.close()
            } catch { throw TransportError(.unknown, cause: error) }
            return try await next(call)
        }
    }

    @Test(
        "A file whose length has changed fails the upload with the code file",
        arguments: [10, 300_000]
    )
    func noticesChanges(length: UInt64) async throws {
        try await inFolder { folder in
            let file = folder.appendingPathComponent("a.bin")
            try Data(count: 200_000).write(to: file)
            let error = try await AnsweringServer.run(answering: answer(), then: .keepOpen) {
                port in
                try await withClient("http://127.0.0.1:\(port)") {
                    $0.middleware = [Truncation(file: file, length: length)]
                } _: { client in
                    do throws(NetworkError) {
                        _ = try await client.upload(.file(file), to: GetItem())
                        return NetworkError?.none
                    } catch { return error }
                }
            }
            #expect(error?.code == .file)
            #expect(error?.transportError?.code == .bodyProducerFailed)
            #expect((error?.transportError?.cause as? HTTPFileError)?.reason == .changedLength)
        }
    }

    /// Reports each request whose end the client has handed to the network.
    private struct EndObserver: HTTPEventObserver {
        let sent: AsyncStream<Void>.Continuation

        func observe(_ event: HTTPEvent) {
            if case .sentBody = event.kind { sent.yield() }
        }
    }

    @Test("A large body in memory arrives whole, and its connection is reused")
    func sendsLargeBodies() async throws {
        let bytes = (0..<1_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let requests = Mutex<[HTTPTestRequest]>([])
        let (ends, sent) = AsyncStream.makeStream(of: Void.self)
        try await AnsweringServer.run { request, write in
            requests.withLock { $0.append(request) }
            // A response that arrives before the client has noted the end of its own request closes the connection.
            _ = await ends.first { _ in true }
            try await write(answer())
            return .keepOpen
        } while: { port in
            try await withClient(
                "http://127.0.0.1:\(port)",
                { $0.observers = [EndObserver(sent: sent)] }
            ) { client in
                for _ in 1...2 {
                    _ = try await client.request(GetItem(method: .put, body: .bytes(bytes)))
                }
            }
        }
        let seen = requests.withLock { $0 }
        #expect(seen.count == 2)
        #expect(seen.allSatisfy { $0["content-length"] == "1000001" && $0.body == bytes })
        #expect(Set(seen.map(\.connection)).count == 1)
    }

    @Test("A complete download is moved to its destination; a failed one leaves nothing")
    func downloads() async throws {
        let text = String(repeating: "0123456789", count: 200_000)
        try await inFolder { folder in
            let whole = folder.appendingPathComponent("whole")
            let half = folder.appendingPathComponent("half")
            try await AnsweringServer.run { request, write in
                let isWhole = request.path == "/item"
                try await write("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n")
                try await write(isWhole ? text : String(text.prefix(500_000)))
                return isWhole ? .keepOpen : .close
            } while: { port in
                try await withClient("http://127.0.0.1:\(port)") { client in
                    let head = try await client.download(from: GetItem(), to: whole)
                    #expect(head.status == .ok)
                    await expectError(NetworkError.self, .connectionLost) {
                        try await client.download(from: GetItem(path: "/other"), to: half)
                    }
                }
            }
            #expect(try String(contentsOf: whole, encoding: .utf8) == text)
            #expect(try names(in: folder) == ["whole"])
        }
    }
}
#endif
