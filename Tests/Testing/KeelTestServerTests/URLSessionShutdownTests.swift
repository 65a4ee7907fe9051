#if URLSession && TestServer
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestServer
import Testing

@Suite("URLSessionTransport is shut down over real sockets", .timeLimit(.minutes(2)))
struct URLSessionShutdownTests {
    @Test("A body that is read while the transport is shut down ends with clientShutdown")
    func body() async throws {
        // So many bytes that Foundation on Linux shows some of them before the silence.
        let half = HTTPTestAnswer.bytes([UInt8](repeating: 1, count: 400_000))
            .interrupted(.insideBody(after: 200_000), by: .stall)
        try await FaultServer.run(answers: [half]) { server in
            let transport = URLSessionTransport()
            let call = HTTPCall(HTTPRequest(server.address()))
            let hasBegun = Watched(false)
            let task = Task { () async -> TransportError? in
                do throws(TransportError) {
                    var pieces = try await transport.send(call).body.makeAsyncIterator()
                    while try await pieces.next() != nil { hasBegun.change { $0 = true } }
                    return nil
                } catch { return error }
            }
            _ = try await hasBegun.wait { $0 ? true : nil }
            await transport.shutdown()
            let error = await task.value
            #expect(error?.code == .clientShutdown)
        }
    }
}
#endif
