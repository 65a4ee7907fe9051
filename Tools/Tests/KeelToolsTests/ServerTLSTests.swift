import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import KeelToolsTestSupport
import Testing

@Suite("keel serve with TLS", .timeLimit(.minutes(5)))
struct ServerTLSTests {
    private static func transport(usesHTTP2: Bool = true) throws -> AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.Configuration()
        configuration.usesHTTP2 = usesHTTP2
        configuration.security.trustRoots = try .pem(TestCertificate.certificate.utf8)
        return AsyncHTTPClientTransport(configuration)
    }

    private static func serve(_ body: (URL) async throws -> Void) async throws {
        let folder = try Scratch()
        let server = try ServedProcess(
            storage: "memory",
            port: 0,
            [
                "--tls-certificate",
                folder.file("server.pem", holding: TestCertificate.certificate).path,
                "--tls-key", folder.file("server.key", holding: TestCertificate.key).path,
            ]
        )
        defer { server.kill() }
        #expect(server.address.scheme == "https")
        try await body(try #require(URL(string: "https://localhost:\(server.port)")))
    }

    @Test("The handshake selects HTTP/2 or HTTP/1.1", arguments: [true, false])
    func protocols(usesHTTP2: Bool) async throws {
        try await Self.serve { address in
            let transport = try Self.transport(usesHTTP2: usesHTTP2)
            let head = HTTPRequest(
                method: .get,
                scheme: "https",
                authority: "localhost:\(address.port ?? 0)",
                path: "/health"
            )
            let reply = try await transport.send(HTTPCall(head))
            #expect(reply.head.status == .ok)
            let version = reply.connection?.version ?? ""
            #expect(version.hasPrefix(usesHTTP2 ? "HTTP/2" : "HTTP/1.1"))
            _ = try await reply.body.collect(upTo: 1_000)
            await transport.shutdown()
        }
    }

    @Test("A method is answered over gRPC")
    func gRPC() async throws {
        try await Self.serve { address in
            let transport = try Self.transport()
            // A `GetDocumentRequest`, whose field 1 is the name, behind the five bytes of a message.
            let name = Array("projects/p/databases/(default)/documents/notes/1".utf8)
            let message: [UInt8] = [0x0A, UInt8(name.count)] + name
            let frame: [UInt8] = [0, 0, 0, 0, UInt8(message.count)] + message
            let head = HTTPRequest(
                method: .post,
                scheme: "https",
                authority: "localhost:\(address.port ?? 0)",
                path: "/google.firestore.v1.Firestore/GetDocument",
                headerFields: [.contentType: "application/grpc"]
            )
            let reply = try await transport.send(HTTPCall(head, body: HTTPBody(frame)))
            #expect(reply.head.status == .ok)
            _ = try await reply.body.collect(upTo: 1_000)
            // The document does not exist.
            let status = try #require(HTTPField.Name("grpc-status"))
            #expect(reply.body.trailers?[status] == "5")
            await transport.shutdown()
        }
    }

    @Test("A listener receives a commit, and a client that does not trust the server sends nothing")
    func documents() async throws {
        try await Self.serve { address in
            let transport = try Self.transport()
            let store = StorageClient(FirestoreStorageAdapter(.keel(address), transport: transport))
            try await store.setDocument("notes/1", ["text": "Hello"])
            var snapshots = store.listenToDocument("notes/1").makeAsyncIterator()
            #expect(try await snapshots.next()?.document?["text"] == "Hello")
            try await store.setDocument("notes/1", ["text": "Goodbye"])
            #expect(try await snapshots.next()?.document?["text"] == "Goodbye")
            let stranger = StorageClient(
                FirestoreStorageAdapter(.keel(address), transport: AsyncHTTPClientTransport())
            )
            await #expect(throws: StorageError.self) {
                try await stranger.setDocument("notes/2", ["text": "Hello"])
            }
            let missing = await #expect(throws: StorageError.self) {
                _ = try await store.getDocument("notes/2")
            }
            #expect(missing?.code == .documentNotFound)
            await transport.shutdown()
        }
    }
}

/// A certificate for `localhost`, valid for a hundred years and only for tests.
private enum TestCertificate {
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBljCCATugAwIBAgIUJKCyFvvd38tBYHAMGSNoyhJruRowCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTIzMTkyN1oYDzIxMjYxMDI4
        MjMxOTI3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAARqrn1h6rW9ShiwaDy/+AXTOSSbb1KKwk4F2dxpoOUQySCtYvO+3Ru9
        uPBMvtFe1oHkWtZTRJODx997nJEbpWWJo2kwZzAdBgNVHQ4EFgQUQaKjhjfSWzt7
        KwfyzIw5YiMkVYkwHwYDVR0jBBgwFoAUQaKjhjfSWzt7KwfyzIw5YiMkVYkwDwYD
        VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
        SQAwRgIhAPMtGLqazfKRnEXyMFREKPwFts2Y6xttqaMyB9lvK4YsAiEA+PR/qvVC
        n7twTpYfX+GzkpNrzgI/px4v3oskzmKZkS4=
        -----END CERTIFICATE-----
        """

    /// Made for this file; it protects nothing.
    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTd7Uikgm3rGDyXS6
        MDtxRjb4xDK2UVDkQpX5MmWGw96hRANCAARqrn1h6rW9ShiwaDy/+AXTOSSbb1KK
        wk4F2dxpoOUQySCtYvO+3Ru9uPBMvtFe1oHkWtZTRJODx997nJEbpWWJ
        -----END PRIVATE KEY-----
        """
}
