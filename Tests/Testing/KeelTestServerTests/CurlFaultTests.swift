#if TestServer
import KeelTestSupport
import HTTPTypes
import KeelTestKit
import KeelTestServer
import Testing

@Suite(
    "FaultServer makes curl fail as expected",
    .disabled(if: Curl.isMissing, "curl is not installed"),
    .timeLimit(.minutes(1))
)
struct CurlFaultTests {
    /// A fault, and the exit codes with which curl reports it.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answer: HTTPTestAnswer
        var exitCodes: Set<Int32>

        init(_ description: String, _ answer: HTTPTestAnswer, _ exitCodes: Set<Int32>) {
            testDescription = description
            self.answer = answer
            self.exitCodes = exitCodes
        }
    }

    private static func withoutHead(_ action: HTTPTestAnswer.Action) -> HTTPTestAnswer {
        .text("x").interrupted(.beforeHead, by: action)
    }

    private static func cutBody(_ action: HTTPTestAnswer.Action) -> HTTPTestAnswer {
        .text("whole").interrupted(.insideBody(after: 2), by: action)
    }

    static let http1Rows: [Row] = [
        Row("closes before the head", withoutHead(.close), [52]),
        Row("resets before the head", withoutHead(.reset), [56]),
        Row(
            "closes inside the head",
            .text("x").interrupted(.insideHead, by: .close),
            [18, 52, 56]
        ),
        Row("truncates a body of known length", cutBody(.close), [18]),
        Row(
            "truncates a chunked body",
            .text("whole").framed(.chunked).interrupted(.insideBody(after: 2), by: .close),
            [18, 56]
        ),
        Row("resets inside the body", cutBody(.reset), [56, 18]),
        Row("announces too much", .text("short").framed(.length(9)).thenClosing(), [18]),
        Row("breaks the chunk coding", .brokenChunks, [56]),
        Row("sends garbage", .garbage, [1, 8]),
        Row("sends a huge field", .hugeField(bytes: 400_000), [56, 27, 100]),
        Row("ends the body with the connection", .text("to the end").framed(.untilClose), [0]),
    ]

    @Test("An HTTP/1.1 server that", arguments: http1Rows)
    func http1(row: Row) async throws {
        try await FaultServer.run(answers: [row.answer]) { server in
            let result = try await Curl.run("--http1.1", server.address())
            #expect(row.exitCodes.contains(result.exitCode), "curl exits with \(result.exitCode)")
        }
    }

    static let http2Rows: [Row] = [
        Row("closes before the head", withoutHead(.close), [16, 18, 52, 56]),
        Row(
            "resets before the head",
            withoutHead(.reset),
            // While reading, or while still sending its own frames.
            [16, 55, 56]
        ),
        Row("resets the stream", withoutHead(.resetStream(code: 2)), [92]),
        Row("resets the stream inside the body", cutBody(.resetStream(code: 2)), [92]),
        Row(
            "goes away without having processed",
            withoutHead(.goAway(code: 0, processed: false)),
            // A protocol error, a refused stream, or an end without an answer.
            [16, 52, 56, 92]
        ),
        Row(
            "goes away inside the body",
            cutBody(.goAway(code: 2, processed: true)),
            [16, 18, 56, 92]
        ),
        Row("closes inside the body", cutBody(.close), [16, 18, 56, 92]),
        Row(
            "breaks the framing",
            .raw([UInt8](repeating: 0xff, count: 32)),
            // Also while still sending its own frames.
            [16, 52, 55, 56, 92]
        ),
    ]

    @Test("An HTTP/2 server that", arguments: http2Rows)
    func http2(row: Row) async throws {
        try await FaultServer.run(answers: [row.answer]) { server in
            let result = try await Curl.run("--http2-prior-knowledge", server.address())
            #expect(row.exitCodes.contains(result.exitCode), "curl exits with \(result.exitCode)")
        }
    }

    @Test(
        "A reset by the server is the scripted answer, not a hang-up of the client",
        arguments: ["--http1.1", "--http2-prior-knowledge"]
    )
    func resets(flag: String) async throws {
        let answer = HTTPTestAnswer.text("x").interrupted(.beforeHead, by: .reset)
        try await FaultServer.run { _ in
            answer
        } operation: { server in
            _ = try await Curl.run([flag] + (0..<30).map { server.address("/\($0)") })
            #expect(server.requests.count >= 30)
            try await server.waitForAnswers(server.requests.count)
            #expect(server.disconnects.isEmpty)
        }
    }

    @Test("An HTTP/2 server without settings stays silent")
    func silentHTTP2() async throws {
        var configuration = FaultServer.Configuration()
        configuration.http2.sendsSettings = false
        try await FaultServer.run(configuration, answers: [.text("x")]) { server in
            let result = try await Curl.run([
                "--http2-prior-knowledge", "--max-time", "0.3", server.address(),
            ])
            #expect(result.exitCode == 28)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("A stale connection is detected by its second request")
    func stale() async throws {
        try await FaultServer.run(answers: [.text("one").thenClosing(), .text("two")]) { server in
            let result = try await Curl.run(server.address("/1"), server.address("/2"))
            #expect(result.text == "onetwo")
            #expect(try await server.waitForConnections(2).count == 2)
        }
    }

    // MARK: TLS

    @Test("curl checks a certificate that is", arguments: TestAuthority.Defect.allCases)
    func certificates(flaw: TestAuthority.Defect) async throws {
        let authority = try TestAuthority()
        let identity = try authority.identity(flaw)
        try await identity.withFiles(trusting: authority) { files in
            let configuration = FaultServer.Configuration(tls: FaultServer.TLS(identity))
            try await FaultServer.run(configuration, answers: [.text("x")]) { server in
                let result = try await Curl.run("--cacert", files.authority, server.address())
                #expect(result.exitCode == (flaw == .none ? 0 : 60))
                #expect(server.requests.count == (flaw == .none ? 1 : 0))
                if flaw != .none {
                    let connection = try await server.waitForConnections(1, closed: true)[0]
                    #expect(connection.handshakeFailure != nil || connection.receivedBytes == 0)
                }
            }
        }
    }

    @Test("A certificate from an unknown authority is refused")
    func unknownAuthority() async throws {
        let identity = try TestAuthority().identity()
        try await identity.withFiles(trusting: try TestAuthority()) { files in
            let configuration = FaultServer.Configuration(tls: FaultServer.TLS(identity))
            try await FaultServer.run(configuration) { server in
                let result = try await Curl.run("--cacert", files.authority, server.address())
                #expect(result.exitCode == 60)
            }
        }
    }

    @Test("A handshake can", arguments: FaultServer.HandshakeFault.allCases)
    func handshakes(fault: FaultServer.HandshakeFault) async throws {
        let tls = FaultServer.TLS(try TestAuthority().identity()).failing(with: fault)
        try await FaultServer.run(.init(tls: tls)) { server in
            let patience = fault == .stall ? "0.3" : "30"
            let result = try await Curl.run("-k", "--max-time", patience, server.address())
            #expect(result.exitCode == (fault == .stall ? 28 : 35))
        }
    }

    @Test("The public key pin is the one that curl computes")
    func pins() async throws {
        let authority = try TestAuthority()
        let identity = try authority.identity()
        try await identity.withFiles(trusting: authority) { files in
            try await FaultServer.run(.init(tls: .init(identity)), answers: [.text("x")]) {
                server in
                let right = "sha256//" + identity.publicKeyPinText
                let wrong = "sha256//" + TestIdentity.pinText(TestIdentity.backupPin())
                let root = files.authority
                let accepted = try await Curl.run([
                    "--cacert", root, "--pinnedpubkey", right, server.address(),
                ])
                #expect(accepted.exitCode == 0)
                let refused = try await Curl.run([
                    "--cacert", root, "--pinnedpubkey", wrong, server.address(),
                ])
                #expect(refused.exitCode == 90)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test("A client certificate is required", arguments: [true, false])
    func clientCertificates(isKnown: Bool) async throws {
        let authority = try TestAuthority()
        let client = try (isKnown ? authority : TestAuthority()).client("Ada")
        let tls = FaultServer.TLS(try authority.identity()).requiringClients(of: authority)
        try await client.withFiles(trusting: authority) { files in
            try await FaultServer.run(.init(tls: tls), answers: [.text("x")]) { server in
                let result = try await Curl.run([
                    "--cacert", files.authority, "--cert", files.certificate,
                    "--key", files.privateKey, server.address(),
                ])
                #expect((result.exitCode == 0) == isKnown)
                let der = server.requests.first?.security?.clientCertificate
                #expect(try der == (isKnown ? client.certificateDER : nil))
                let without = try await Curl.run("--cacert", files.authority, server.address())
                #expect(without.exitCode != 0)
                #expect(server.requests.count == (isKnown ? 1 : 0))
            }
        }
    }
}
#endif
