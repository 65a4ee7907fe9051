#if AsyncHTTPClient && TestServer
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelTestKit
import KeelTestServer
import Testing

@Suite("Write timeout over AsyncHTTPClient")
struct WriteTimeoutTests {
    @Test("A server that stops reading ends the upload", arguments: [true, false])
    func stoppedReading(isStreamed: Bool) async throws {
        // More than the buffers of both sockets may hold, up to 36 MiB on Linux.
        let size = 64 << 20
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        let body =
            isStreamed
            ? HTTPBody(length: Int64(size), isReplayable: true) { () async throws(TransportError) in
                .chunks(Array(repeating: piece, count: size / piece.count))
            }
            : HTTPBody([UInt8](repeating: 7, count: size))
        let answer = HTTPTestAnswer.text("never")
            .reading(.atMost(0)).interrupted(.beforeHead, by: .stall)
        let error = try await FaultServer.run(answers: [answer]) { server in
            var settings = AsyncHTTPClientTransport.Configuration()
            settings.writeTimeout = .milliseconds(200)
            let transport = AsyncHTTPClientTransport(settings)
            let head = HTTPRequest("http://127.0.0.1:\(server.port)/upload", .put)
            let error = await #expect(throws: TransportError.self) {
                _ = try await transport.send(HTTPCall(head, body: body))
            }
            await transport.shutdown()
            return error
        }
        #expect(error?.code == .writeTimeout)
        #expect(error?.phase == .send)
        #expect(error?.processed == .maybe)
        // The sockets' buffers and half a MiB waiting for them; the rest was never copied.
        #expect(try #require(error?.bytesSent) < size / 4 * 3)
    }
}
#endif
