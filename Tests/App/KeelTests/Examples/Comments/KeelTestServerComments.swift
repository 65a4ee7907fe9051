#if TestServer && AsyncHTTPClient
import Foundation
import HTTPTypes
import Keel
import KeelTestKit
import KeelTestServer
import Testing

/// Examples from the comments of KeelTestServer; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func testAuthority() async throws {
        let authority = try TestAuthority()
        let tls = FaultServer.TLS(try authority.identity(.expired))
        _ = authority
        _ = tls
    }

    static func faultServer(_ address: URL, _ transport: any HTTPTransport) async throws {
        try await FaultServer.run(answers: [.json(#"{"id": 1}"#), .status(.serviceUnavailable)]) {
            server in
            let client = NetworkClient(baseURL: address, transport: transport)
            _ = client
            let paths = try await server.waitForRequests(2).map(\.path)
            #expect(paths == ["/v1/a", "/v1/b"])
        }
    }

    static func testProxy() async throws {
        try await TestProxy.run { proxy in
            let transport = try MyTransport(proxyPort: proxy.port)
            _ = transport
            #expect(proxy.requests.map(\.method) == ["CONNECT"])
        }
    }
}
#endif
