#if TestServer
import KeelTestSupport
import KeelTestKit
import KeelTestServer
import Testing

@Suite(
    "TestProxy connects curl to a server",
    .disabled(if: Curl.isMissing, "curl is not installed"),
    .timeLimit(.minutes(1))
)
struct CurlProxyTests {
    enum Kind: String, CaseIterable, Sendable {
        case absolute = "http://"
        case connect = "http:// "
        case socks = "socks5h://"

        var scheme: String { rawValue.split(separator: " ").map(String.init).joined() }
    }

    private static let ada = TestProxy.Credentials(name: "ada", password: "s3cret")

    private func ask(
        _ kind: Kind,
        _ proxy: TestProxy,
        _ server: FaultServer,
        as user: String = ""
    ) async throws -> ProgramRun {
        var arguments = ["--max-time", "20", "-x", "\(kind.scheme)\(user)127.0.0.1:\(proxy.port)"]
        if kind == .connect { arguments.append("--proxytunnel") }
        return try await Curl.run(arguments + [server.address("/through?it=1")])
    }

    @Test("A request passes", arguments: Kind.allCases)
    func passes(kind: Kind) async throws {
        try await FaultServer.run(answers: [.text("Hello")]) { server in
            try await TestProxy.run { proxy in
                let result = try await ask(kind, proxy, server)
                #expect(result.text == "Hello")
                #expect(server.requests.map(\.target) == ["/through?it=1"])
                #expect(server.requests.first?["host"] == server.authority)
                #expect(server.requests.first?["proxy-connection"] == nil)
                let asked = proxy.requests.first
                switch kind {
                case .absolute: #expect(asked?.target == server.address("/through?it=1"))
                case .connect:
                    #expect(asked?.line == "CONNECT \(server.authority) HTTP/1.1")
                case .socks: #expect(asked?.target == server.authority)
                }
            }
        }
    }

    @Test("A password is required", arguments: Kind.allCases, ["ada:s3cret@", "ada:wrong@", ""])
    func passwords(kind: Kind, user: String) async throws {
        try await FaultServer.run(answers: [.text("Hello")]) { server in
            try await TestProxy.run(.init(credentials: Self.ada)) { proxy in
                let result = try await ask(kind, proxy, server, as: user)
                #expect((result.text == "Hello") == user.contains("s3cret"))
                #expect(server.requests.count == (user.contains("s3cret") ? 1 : 0))
            }
        }
    }

    @Test("A fault keeps the request from the server", arguments: Kind.allCases)
    func faults(kind: Kind) async throws {
        try await FaultServer.run(answers: [.text("Hello")]) { server in
            for fault in TestProxy.Fault.allCases where fault != .stall {
                try await TestProxy.run(.init(fault: fault)) { proxy in
                    let result = try await ask(kind, proxy, server)
                    #expect(result.text != "Hello", "\(fault)")
                    #expect(kind == .absolute || result.exitCode != 0, "\(fault)")
                    #expect(proxy.requests.count >= 1)
                }
            }
            #expect(server.requests.isEmpty)
        }
    }
}
#endif
