#if TestServer
import Testing
import KeelTestKit
import KeelTestServer
@Suite struct DebugTests {
    @Test func debug() async throws {
        try await FaultServer.run(answers: [.text("one "), .text("two")]) { server in
            let r = try await Curl.run("--http2-prior-knowledge", "-v", "--stderr", "-", server.address("/1"), server.address("/2"))
            print(r.text, r.exitCode)
        }
    }
}
#endif
