#if TestServer
import KeelTestSupport
import HTTPTypes
import KeelTestKit
import KeelTestServer
import Testing

@Suite(
    "FaultServer answers curl",
    .disabled(if: Curl.isMissing, "curl is not installed"),
    .timeLimit(.minutes(1))
)
struct CurlExchangeTests {
    enum Way: String, CaseIterable, Sendable {
        case plainHTTP1 = "--http1.1"
        case plainHTTP2 = "--http2-prior-knowledge"
        case secureHTTP1 = "--http1.1 "
        case secureHTTP2 = "--http2"

        var isSecure: Bool { self == .secureHTTP1 || self == .secureHTTP2 }
        var isHTTP2: Bool { self == .plainHTTP2 || self == .secureHTTP2 }
        var flag: String { rawValue.split(separator: " ").map(String.init).joined() }
    }

    /// Runs a server and provides the arguments of curl for it.
    private func with(
        _ way: Way,
        _ answers: [FaultServer.Answer],
        _ body: (FaultServer, [String]) async throws -> Void
    ) async throws {
        let authority = try TestAuthority()
        let identity = try authority.identity()
        var configuration = FaultServer.Configuration()
        if way.isSecure { configuration.tls = FaultServer.TLS(identity) }
        try await identity.withFiles(trusting: authority) { files in
            try await FaultServer.run(configuration, answers: answers) { server in
                try await body(server, [way.flag, "--cacert", files.authority])
            }
        }
    }

    @Test("A text is returned, and the request is recorded", arguments: Way.allCases)
    func text(way: Way) async throws {
        try await with(way, [.text("Hello", headers: [.eTag: "\"1\""])]) { server, arguments in
            let result = try await Curl.run(
                arguments + ["-D", "-", "-H", "X-Ask: yes", server.address("/a%2Fb?q=1%202")]
            )
            #expect(result.exitCode == 0)
            #expect(result.text.hasPrefix(way.isHTTP2 ? "HTTP/2 200" : "HTTP/1.1 200 OK"))
            #expect(result.text.lowercased().contains("etag: \"1\""))
            #expect(result.text.lowercased().contains("content-length: 5"))
            #expect(result.text.hasSuffix("Hello"))
            let request = try await server.waitForRequests(1)[0]
            #expect(request.method == "GET")
            #expect(request.target == "/a%2Fb?q=1%202")
            #expect(request.path == "/a%2Fb")
            #expect(request["x-ask"] == "yes")
            #expect(request["host"] == server.authority)
            #expect(request.version == (way.isHTTP2 ? "HTTP/2" : "HTTP/1.1"))
            #expect((request.security != nil) == way.isSecure)
            let name = request.security?.negotiatedProtocol
            #expect(!way.isSecure || name == (way.isHTTP2 ? "h2" : "http/1.1"))
        }
    }

    // Not with prior knowledge: curl 7.88 reuses the connection but sends nothing on it.
    @Test(
        "A connection serves several requests",
        arguments: [Way.plainHTTP1, .secureHTTP1, .secureHTTP2]
    )
    func reuse(way: Way) async throws {
        try await with(way, [.text("one "), .text("two")]) { server, arguments in
            let result = try await Curl.run(
                arguments + [server.address("/1"), server.address("/2")]
            )
            #expect(result.text == "one two")
            let requests = try await server.waitForRequests(2)
            #expect(requests.map(\.connection) == [0, 0])
            #expect(requests.map(\.numberOnConnection) == [0, 1])
            #expect(server.connections.count == 1)
        }
    }

    @Test("Bodies of 3 MB are transferred in both directions", arguments: Way.allCases)
    func largeBodies(way: Way) async throws {
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await with(way, [.bytes(bytes)]) { server, arguments in
            let result = try await Curl.run(
                arguments + ["-T", "-", "-X", "POST", server.address()],
                input: bytes
            )
            #expect(result.exitCode == 0)
            #expect(result.output == bytes)
            // curl hangs up with its last byte, so it is a race whether the answer counts as complete.
            let request = try await server.waitForRequests(1)[0]
            #expect(request.body == bytes)
            #expect(request.bodyLength == bytes.count)
        }
    }

    @Test("Trailers, interim responses and empty bodies are sent", arguments: Way.allCases)
    func parts(way: Way) async throws {
        let fancy = HTTPTestAnswer(body: [Array("a".utf8), Array("b".utf8)])
            .trailing([.eTag: "\"late\""])
            .preceded(by: .earlyHints, headers: [.location: "/x"])
        try await with(way, [fancy, .status(.noContent), .text("unread")]) { server, arguments in
            let result = try await Curl.run(arguments + ["-D", "-", server.address()])
            #expect(result.exitCode == 0)
            #expect(result.text.contains(" 103"))
            #expect(result.text.lowercased().contains("etag: \"late\""))
            #expect(result.text.contains("ab"))
            let empty = try await Curl.run(
                arguments + ["-w", "%{http_code} %{size_download}", server.address()]
            )
            #expect(empty.text == "204 0")
            let head = try await Curl.run(arguments + ["-I", server.address()])
            #expect(head.exitCode == 0)
            #expect(head.text.lowercased().contains("content-length: 6"))
            #expect(!head.text.contains("unread"))
        }
    }

    @Test(
        "A client that gives up is detected",
        arguments: Way.allCases,
        [HTTPTestAnswer.Place.beforeHead, .insideBody(after: 4)]
    )
    func hangUps(way: Way, place: HTTPTestAnswer.Place) async throws {
        let answer = HTTPTestAnswer.text("half said").interrupted(place, by: .stall)
        try await with(way, Array(repeating: answer, count: 100)) { server, arguments in
            // On a busy machine curl may give up before it has sent a request.
            while server.disconnects.isEmpty {
                let result = try await Curl.run(arguments + ["--max-time", "2", server.address()])
                #expect(result.exitCode == 28)
            }
            #expect(server.disconnects.first?.request == 0)
            #expect(server.requests.allSatisfy { !$0.isAnswered })
        }
    }

    @Test("Delays wait for the server's clock", arguments: Way.allCases)
    func pauses(way: Way) async throws {
        let clock = TestClock()
        let authority = try TestAuthority()
        let identity = try authority.identity()
        let configuration = FaultServer.Configuration(
            tls: way.isSecure ? FaultServer.TLS(identity) : nil,
            clock: clock
        )
        let answer = HTTPTestAnswer.text("slowly")
            .delayed(by: .seconds(3600))
            .throttled(bytes: 2, every: .seconds(60))
        try await identity.withFiles(trusting: authority) { files in
            try await FaultServer.run(configuration, answers: [answer]) { server in
                let arguments = [way.flag, "--cacert", files.authority, server.address()]
                let result = try await clock.run { try await Curl.run(arguments) }
                #expect(result.text == "slowly")
                #expect(clock.elapsed == .seconds(3600 + 2 * 60))
            }
        }
    }
}
#endif
