#if PostgreSQL && (os(Linux) || os(macOS))
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStoragePostgreSQL
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("PostgreSQL with TLS and passwords", .timeLimit(.minutes(15)))
struct EncryptedDatabaseTests {
    /// Makes two authorities, and certificates of the first one for `localhost`: a valid one, and one that has expired.
    private static let script = #"""
        set -eu
        key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
        for name in authority other; do
            key "$name"
            openssl req -x509 -new -key "$name.key" -out "$name.crt" -days 2 -subj "/CN=Keel tests: $name"
        done
        key server
        openssl req -new -key server.key -out server.csr -subj /CN=localhost
        echo subjectAltName=DNS:localhost >server.ext
        certify() {
            openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -set_serial "$2" \
                -days "$3" -extfile server.ext -out "$1.crt"
        }
        certify valid 1 2
        certify expired 2 -1
        # The server runs as another user if the tests run as root.
        chmod a+rx .
        chmod a+r ./*.key
        """#

    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        let end = try KeelProcess(shell: Self.script, in: scratch.folder).wait()
        try #require(end.code == 0, "\(end.errors)")
    }

    private func server(with certificate: String) throws -> PostgreSQLServer {
        try PostgreSQLServer(
            certificates: scratch.folder,
            options: ["ssl=on", "ssl_cert_file=\(certificate).crt", "ssl_key_file=server.key"]
        )
    }

    /// Returns the URL of a server that must prove its name.
    private func url(
        _ server: PostgreSQLServer,
        role: String = "keel",
        host: String = "localhost",
        trusting authority: String = "authority",
        _ more: String = ""
    ) -> String {
        let file = scratch.file(authority + ".crt").path
        return "postgres://\(role)@\(host):\(server.port)/postgres"
            + "?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert=\(file)\(more)"
    }

    /// Opens a store and writes a document to it.
    private func use(_ url: String) async throws {
        let adapter = try await PostgreSQLStorageAdapter.opened(at: url, for: .creating)
        let storage = StorageClient(adapter)
        try await storage.setDocument("notes/1", ["n": 1])
        #expect(try await storage.getDocument("notes/1")["n"] == 1)
        await adapter.close()
    }

    /// Opens a store, which must fail, and returns what a command says of it.
    private func refusal(_ url: String) async throws -> ToolError {
        let error = await #expect(throws: ToolError.self) { try await use(url) }
        let refusal = try #require(error)
        #expect(!"\(refusal)".contains("hunter2"))
        return refusal
    }

    // MARK: Certificates

    @Test("A server that proves its name is used, over TLS")
    func proven() async throws {
        let server = try server(with: "valid")
        defer { server.stop() }
        try await use(url(server))
        let doctor = try KeelProcess(["storage", "doctor", url(server)]).wait()
        #expect(doctor.output.contains("TLSv1."), "\(doctor.output)\(doctor.errors)")
    }

    @Test(
        "A server that another authority vouches for, or for another name, is refused with the reason"
    )
    func unproven() async throws {
        let server = try server(with: "valid")
        defer { server.stop() }
        let stranger = try await refusal(url(server, trusting: "other"))
        #expect(
            stranger.message == "the certificate of postgres://localhost:\(server.port)/postgres "
                + "cannot be verified: certificate verify failed"
        )
        #expect(stranger.advice.contains("sslrootcert=FILE"))
        let absent = try await refusal(url(server, trusting: "absent"))
        #expect(absent.message.contains("cannot be verified: root certificate file"))
        #expect(absent.message.contains("absent.crt"))
        let misnamed = try await refusal(url(server, host: "127.0.0.1"))
        #expect(misnamed.message.contains("cannot be verified"))
        #expect(misnamed.message.contains("does not match host name \"127.0.0.1\""))
        #expect(misnamed.advice.contains("Correct the host"))
        #expect(!misnamed.advice.contains("sslrootcert"))
    }

    @Test("A server whose certificate has expired is refused with the reason")
    func expired() async throws {
        let server = try server(with: "expired")
        defer { server.stop() }
        let error = try await refusal(url(server))
        #expect(error.message.contains("cannot be verified: certificate verify failed"))
        #expect(error.advice.contains("expired"))
    }

    @Test("Of several hosts, the report is of the one that was reached")
    func several() async throws {
        let server = try server(with: "valid")
        defer { server.stop() }
        let file = scratch.file("other.crt").path
        // Nothing listens on port 1, which is tried last.
        let error = try await refusal(
            "postgres://keel@localhost:\(server.port),localhost:1/postgres"
                + "?hostaddr=127.0.0.1,127.0.0.1&sslmode=verify-full&sslrootcert=\(file)"
        )
        #expect(error.message.contains("cannot be verified: certificate verify failed"))
    }

    // MARK: Passwords

    @Test(
        "Passwords are proven by SCRAM, bound to the TLS connection, and no password goes unencrypted"
    )
    func passwords() async throws {
        let server = try server(with: "valid")
        defer { server.stop() }
        try server.run("CREATE ROLE guarded SUPERUSER LOGIN PASSWORD 'hunter2'")
        // The server must prove that it knows the password too.
        let binding = "&channel_binding=require"
        try await use(url(server, role: "guarded:hunter2", binding))
        let wrong = try await refusal(url(server, role: "guarded:hunter2x", binding))
        #expect(wrong.message.contains("refused the password"))
        #expect(wrong.advice.contains("PGPASSWORD"))
        let plain = "postgres://guarded:hunter2@127.0.0.1:\(server.port)/postgres?sslmode=disable"
        let unencrypted = try await refusal(plain)
        #expect(unencrypted.message.hasSuffix("accepts only encrypted connections"))
        #expect(unencrypted.advice.contains("sslmode=verify-full"))
    }

    @Test(
        "A server with MD5 passwords is accepted, unless the URL demands SCRAM or the server does"
    )
    func hashes() async throws {
        let server = try server(with: "valid")
        defer { server.stop() }
        for role in ["dated", "cautious"] {
            try server.run(
                """
                SET password_encryption = 'md5';
                CREATE ROLE \(role) SUPERUSER LOGIN PASSWORD 'hunter2'
                """
            )
        }
        try await use(url(server, role: "dated:hunter2"))
        let bound = try await refusal(
            url(server, role: "dated:hunter2", "&channel_binding=require")
        )
        #expect(bound.message.contains("does not prove that it knows the password"))
        #expect(bound.advice.contains("scram-sha-256"))
        let cautious = try await refusal(url(server, role: "cautious:hunter2"))
        #expect(cautious.message.contains("refused the password"))
    }
}
#endif
