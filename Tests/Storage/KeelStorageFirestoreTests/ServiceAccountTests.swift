#if Crypto
import KeelTestSupport
import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Synchronization
import Testing
import _CryptoExtras

@Suite("Tokens for service accounts")
struct ServiceAccountTests {
    /// A shared key for all tests, because generating a key is slow.
    private static let privateKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    private static func file(_ change: (inout [String: String]) -> Void = { _ in }) throws
        -> [UInt8]
    {
        var members = [
            "type": "service_account",
            "project_id": "p",
            "private_key_id": "key-1",
            "private_key": try privateKey.get().pkcs8PEMRepresentation,
            "client_email": "robot@p.iam.gserviceaccount.com",
            "token_uri": "https://oauth2.example.com/v2/token",
        ]
        change(&members)
        return Array(try JSONEncoder().encode(members))
    }

    /// A clock controlled by a test.
    private final class Hands: Sendable {
        private let seconds = Mutex(1_700_000_000.0)
        var date: Date { seconds.withLock { Date(timeIntervalSince1970: $0) } }
        func advance(by more: Double) { seconds.withLock { $0 += more } }
    }

    private static func grant(_ token: String) -> ScriptedHTTPTransport.Answer {
        .json(#"{"access_token": "\#(token)", "expires_in": 3599, "token_type": "Bearer"}"#)
    }

    private func tokens(
        _ transport: ScriptedHTTPTransport,
        _ hands: Hands = Hands()
    ) throws -> ServiceAccountTokens {
        ServiceAccountTokens(
            try ServiceAccountKey(json: Self.file()),
            scopes: [ServiceAccountTokens.firestoreScope],
            transport: transport,
            now: { hands.date }
        )
    }

    @Test("a token is requested with a signed assertion of the account")
    func assertion() async throws {
        let transport = ScriptedHTTPTransport([Self.grant("one")])
        let token = try await tokens(transport).token()
        #expect(token.value == "one")
        let call = try #require(transport.calls.first)
        #expect(call.head.method == .post)
        #expect(call.head.authority == "oauth2.example.com")
        #expect(call.head.path == "/v2/token")
        let form = call.text.split(separator: "&").map(String.init)
        #expect(form.first == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer")
        let text = try #require(form.last?.split(separator: "=").last)
        let parts = text.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let header = try FirestoreJSON(parsing: try #require(Base64.decode(parts[0])))
        #expect(header == ["alg": "RS256", "typ": "JWT", "kid": "key-1"])
        let claims = try FirestoreJSON(parsing: try #require(Base64.decode(parts[1])))
        #expect(
            claims == [
                "iss": "robot@p.iam.gserviceaccount.com",
                "scope": "https://www.googleapis.com/auth/datastore",
                "aud": "https://oauth2.example.com/v2/token",
                "iat": .integer(1_700_000_000), "exp": .integer(1_700_003_600),
            ]
        )
        let signature = _RSA.Signing.RSASignature(
            rawRepresentation: try #require(Base64.decode(parts[2]))
        )
        let isValid = try Self.privateKey.get().publicKey.isValidSignature(
            signature,
            for: Data("\(parts[0]).\(parts[1])".utf8),
            padding: .insecurePKCS1v1_5
        )
        #expect(isValid)
    }

    @Test("a token is kept until shortly before it expires")
    func kept() async throws {
        let transport = ScriptedHTTPTransport([Self.grant("one"), Self.grant("two")])
        let hands = Hands()
        let source = try tokens(transport, hands)
        var seen: [String] = []
        for pause in [0, 3500.0, 60] {
            hands.advance(by: pause)
            seen.append(try await source.token().value)
        }
        #expect(seen == ["one", "one", "two"])
    }

    @Test("a rejected token is replaced for all callers that still hold it")
    func refused() async throws {
        let transport = ScriptedHTTPTransport([Self.grant("one"), Self.grant("two")])
        let source = try tokens(transport)
        let one = try await source.token()
        let two = try await source.token(after: one)
        let again = try await source.token(after: one)
        #expect([two.value, again.value] == ["two", "two"])
        #expect(transport.calls.count == 2)
    }

    @Test("many concurrent callers cause one exchange")
    func singleFlight() async throws {
        let gate = Gate()
        let transport = ScriptedHTTPTransport([
            ScriptedHTTPTransport.Answer { _ async throws(TransportError) in
                do throws(CancellationError) {
                    try await gate.pass()
                } catch { throw TransportError(.cancelled) }
                var head = HTTPResponse(status: .ok)
                head.headerFields[.contentType] = "application/json"
                let body = #"{"access_token": "one", "expires_in": 3599}"#
                return HTTPReply(head: head, body: .chunks([Array(body.utf8)]))
            }
        ])
        let source = try tokens(transport)
        let values = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await source.token().value } }
            try await waitUntil { source.waiterCount >= 20 }
            gate.open()
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(values == ["one"])
        #expect(transport.calls.count == 1)
    }

    @Test("a rejected key is a permanent error, an unreachable server a transient one")
    func failures() async throws {
        let cases: [(ScriptedHTTPTransport.Answer, StorageError.Code)] = [
            (.json(#"{"error": "invalid_grant"}"#, status: .badRequest), .unauthenticated),
            (.status(.internalServerError), .unavailable),
            (.failure(TransportError(.connectionRefused)), .unavailable),
            (.json("{}"), .unauthenticated),
        ]
        for (answer, code) in cases {
            let transport = ScriptedHTTPTransport([], then: answer)
            let adapter = FirestoreStorageAdapter(
                .google(project: "p", authentication: try .serviceAccount(json: Self.file())),
                transport: transport
            )
            await expect(code) { _ = try await adapter.read(ReadRequest(.documents(["a/1"]))) }
            #expect(transport.calls.allSatisfy { $0.head.authority == "oauth2.example.com" })
        }
    }

    @Test(
        "an invalid key file is rejected",
        arguments: ["client_email", "private_key", "token_uri"]
    )
    func files(missing: String) throws {
        let file = try Self.file { $0[missing] = nil }
        #expect(throws: StorageError.self) { try ServiceAccountKey(json: file) }
        let damaged = try Self.file { $0["private_key"] = "-----BEGIN PRIVATE KEY-----" }
        #expect(throws: StorageError.self) { try ServiceAccountKey(json: damaged) }
        #expect(throws: StorageError.self) { try ServiceAccountKey(json: []) }
    }

    @Test("a key's description does not reveal its secret")
    func redacted() throws {
        let key = try ServiceAccountKey(json: Self.file())
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(!text.contains("PRIVATE"))
            #expect(text.contains("robot@p"))
        }
    }
}
#endif
