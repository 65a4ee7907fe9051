#if os(Linux) || os(macOS)
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import KeelToolsTestSupport
import Testing

@Suite("Tokens of keel serve", .timeLimit(.minutes(5)))
struct ServeTokensTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Returns the path of a file with the token `sesame` of a caller, whose hash `sha256sum` has computed.
    private func tokens(mode: Int = 0o600) throws -> String {
        let path = try scratch.file(
            "tokens",
            holding: """
                # The only caller
                ann d0c04f4b1951e4aeaaec8223ed2039e542f3aae805a6fa7f6d794e5afff5d272

                """
        ).path
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test("Only requests with a token of the file are answered, and those for health")
    func access() async throws {
        let server = try ServedProcess(storage: "memory", port: 0, ["--tokens", try tokens()])
        defer { server.kill() }
        let transport = AsyncHTTPClientTransport()
        let authentications: [(FirestoreAuthentication, Bool)] = [
            (.token("sesame"), true), (.token("Sesame"), false), (.none, false),
        ]
        for (authentication, isAllowed) in authentications {
            let storage = StorageClient(
                FirestoreStorageAdapter(
                    .keel(server.address, authentication: authentication),
                    transport: transport
                )
            )
            if isAllowed {
                try await storage.setDocument("notes/1", ["n": 1])
                #expect(try await storage.getDocument("notes/1")["n"] == 1)
            } else {
                let error = await #expect(throws: StorageError.self) {
                    try await storage.setDocument("notes/1", ["n": 2])
                }
                #expect(error?.code == .unauthenticated)
            }
        }
        var head = HTTPRequest(.get, to: "127.0.0.1:\(server.port)", "/health")
        #expect(try await transport.send(HTTPCall(head)).head.status == .ok)
        // RFC 9110 section 11.4: the scheme in any case, and one or more spaces behind it.
        head.path = "/metrics"
        for (credentials, status) in [
            ("bearer   sesame", 404), ("Bearer", 401), ("Basic sesame", 401),
            ("Bearer sesame, Bearer sesame", 401), ("Bearer Bearer sesame", 401),
        ] {
            head.headerFields[.authorization] = credentials
            let reply = try await transport.send(HTTPCall(head))
            _ = try await reply.body.collect(upTo: 1 << 16)
            #expect(reply.head.status.code == status, "\(credentials)")
        }
        await transport.shutdown()
    }

    @Test("Commands send the token of KEEL_TOKEN")
    func commands() throws {
        let server = try ServedProcess(storage: "memory", port: 0, ["--tokens", try tokens()])
        defer { server.kill() }
        let place = ["--storage", server.address.absoluteString]
        let token = ["KEEL_TOKEN": "sesame"]
        let set = ["documents", "set", "notes/1", #"{"n": 1}"#] + place
        let refused = try KeelProcess(set).wait()
        #expect(refused.code != 0)
        #expect(refused.errors.contains("KEEL_TOKEN"), "\(refused.errors)")
        let written = try KeelProcess(set, environment: token).wait()
        #expect(written.code == 0, "\(written.errors)")
        let read = try KeelProcess(["documents", "get", "notes/1"] + place, environment: token)
            .wait()
        #expect(read.output.contains("n  1"), "\(read.errors)")
    }

    @Test("With tokens, the address may be any")
    func address() throws {
        // The loopback interface, in a form that is not recognized as such.
        let host = ["--host", "127.1"]
        let refused = try KeelProcess(["serve", "--storage", "memory"] + host).wait()
        #expect(refused.code == 64)
        #expect(refused.errors.contains("--tokens"))
        let options = host + ["--tokens", try tokens(), "--log-level", "warning"]
        let server = try KeelProcess(["serve", "--storage", "memory", "--port", "0"] + options)
        #expect(server.nextLine().hasPrefix("http://127.1:"))
        server.terminate()
        let end = server.wait()
        #expect(end.code == 0)
        #expect(end.errors.contains("in the clear"), "\(end.errors)")
    }

    @Test("An address of another machine ends the server with what to do")
    func foreignAddress() throws {
        // An address for documentation (RFC 5737).
        let options = ["--host", "192.0.2.1", "--port", "0", "--tokens", try tokens()]
        let end = try KeelProcess(["serve", "--storage", "memory"] + options).wait()
        #expect(end.code == 1)
        #expect(end.errors.contains("192.0.2.1 is not an address of this machine"), "\(end.errors)")
        #expect(end.errors.contains("--host"))
    }

    @Test("A file that others can write ends the server with what to do")
    func writable() throws {
        let options = ["--port", "0", "--tokens", try tokens(mode: 0o666)]
        let end = try KeelProcess(["serve", "--storage", "memory"] + options).wait()
        #expect(end.code == 1)
        #expect(end.errors.contains("chmod go-w"), "\(end.errors)")
    }
}
#endif
