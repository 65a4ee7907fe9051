import Foundation
import FoundationNetworking
import HTTPTypes
import Security
import Synchronization
import Testing

@testable import KeelHTTP

@Suite("Public key pinning by challenge on stand-ins", .timeLimit(.minutes(1)))
struct PinTests {
    /// A certificate generated with openssl, and openssl's digest of its key.
    struct Sample: Sendable {
        let certificate: Data
        let digest: String

        var pin: PublicKeyPins.Pin? {
            let digits = Array(digest)
            let bytes = stride(from: 0, to: digits.count, by: 2).map { place in
                UInt8(String(digits[place...place + 1]), radix: 16) ?? 0
            }
            return PublicKeyPins.Pin(digest: bytes)
        }

        init(_ text: String, _ digest: String) {
            certificate = Data(base64Encoded: text) ?? Data()
            self.digest = digest
        }
    }

    /// A P-256 key, an RSA key, and a certificate of version 1, which lacks the version field.
    static let samples = [
        Sample(
            """
            MIIBizCCATGgAwIBAgIUPpsXRcwYCpEhPA0se0GdciZCQ+cwCgYIKoZIzj0EAwIwGjEYMBYGA1UEAwwPYXBpLmV4\
            YW1wbGUub3JnMCAXDTI2MTEyNjAxMTE0MFoYDzIxMjYxMTAyMDExMTQwWjAaMRgwFgYDVQQDDA9hcGkuZXhhbXBs\
            ZS5vcmcwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASlWlqBSuxCYuWJjWoeHkGRTEbOXE1MfAe9Cv4VMWWp62Ey\
            bbFXfA0RUh++mjbwzbwu+j2wIIGfTNnol6yDIEO9o1MwUTAdBgNVHQ4EFgQUW4M0qI3KJbFhph3/c5x6NdcpvwIw\
            HwYDVR0jBBgwFoAUW4M0qI3KJbFhph3/c5x6NdcpvwIwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBF\
            AiEA8dlJaMozJC/MlZnrUMz6rFIx/OVVDlDeqqJ/QW5EJiYCIDT9M97/CNW44g2ypn4jTpJtDaSOGZaadF20CbqR\
            wZYC
            """,
            "b51f06c78819ae4ddbdce20ac9f3a44742e45b2d03669832ade2bea75345b798"
        ),
        Sample(
            """
            MIIDFzCCAf+gAwIBAgIUOlJTblLRBsN1wzEOry/EHL1KUCswDQYJKoZIhvcNAQELBQAwGjEYMBYGA1UEAwwPYXBp\
            LmV4YW1wbGUub3JnMCAXDTI2MTEyNjAxMTE0MVoYDzIxMjYxMTAyMDExMTQxWjAaMRgwFgYDVQQDDA9hcGkuZXhh\
            bXBsZS5vcmcwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQCoEhhLWu1NgqueizcGlOKc54f6/bbTfUVA\
            /aq+U/kIEaYr0jPVWyYFxioTd4vpkvEIbMIt9TLusBtkSlHimgU9YVOpiBnZTQ6yEt77UghU4A54LZeLiuvSbPEU\
            pTidFcfAcu3y3APC5zUT3ZMVHkeXCJ/VgQC6Hrg+wzLvkXrPQra4m5bm3h0TvIsDsJ2WzxypvZ9Pu/AfpAsca3Qk\
            CQa3vCgmOcEmi0zyEZlTRjQdiR6On7i2SrlgHzN02dE8y6WY3pAFvZ/AZPIIf+3pLRM3mAgZ8d3zyCHXfsHYCQZB\
            XNfy6/v0WlnvG+mgtVE/y+4kjrNfh4o/hxF6w2sfEpCtAgMBAAGjUzBRMB0GA1UdDgQWBBT8TEhNe9zxRlbM1+mZ\
            fTqfdwdIOzAfBgNVHSMEGDAWgBT8TEhNe9zxRlbM1+mZfTqfdwdIOzAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3\
            DQEBCwUAA4IBAQA/v+CAD4HnLG9y2I09xE5hBEYtB0qaRM6MXHFgEBj1CnAy4Rh0d5vRVUvgCP253m7yi7pkhwuy\
            7BFVkmgf8LttcU0uK9dolD4ldrlu4PZKFyFJlb3Wnd5CtLtNeFGwwl0ASt6tDJi5ulltEPsg+uk4luYGgBFLpvIG\
            ZZjBr0uXbmKeCfDaTElSEGnpDVvSZlYr4SDtKmm0QMcAp0vCb45BuQYO46BROwsNn0k4Z9qe/VqMdOJxV1iIXUWo\
            MhoehMtLJ7qkAFXtRmptCYyfS/OwIHM3q1PmIC6VbXZIc37MIR5yma0TRaDh0zCPGONRA0uWAnISyH1cN/+1Xjos\
            OoeP
            """,
            "cba45dd9e69612cb079f667435d6af13dadf78369869a9d28516138ef6f4779c"
        ),
        Sample(
            """
            MIIBEjCBuQIUVVcaWRRRPb6XmpwpNDb0JwE41/0wCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYTAeFw0yNjExMjYw\
            MTExNDJaFw0yNzAzMDYwMTExNDJaMAwxCjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATu46Z0\
            Y40L/5JdacG8w/wIygn6ThpScH/ui/+Ia5+PJMZqaWW4nvKpMODhfGVWYWOlDKjtv8k7tgZJ8wbi6CqaMAoGCCqG\
            SM49BAMCA0gAMEUCIDX1IrbbazzKMb7XZ+v2b/PaCPs1GRgVdrfLiDKzC0CUAiEAlNakrKTuPfbidU4ifCOZukM2\
            d3JeV3KXWKdQUsx43Qk=
            """,
            "7fcbcf0a5d2583e5a4c058ab1b3f1336f384b1cd270cf30df04e88c982ea51d8"
        ),
    ]

    /// A session's decision about a server, and the outcome of the call.
    struct Outcome {
        var disposition: URLSession.AuthChallengeDisposition?
        var error: TransportError?
        var reports: [PublicKeyPins.Mismatch] = []
    }

    /// Presents a server's certificate to a session with pins during a call.
    private func show(
        _ certificate: Data,
        isValid: Bool = true,
        method: String? = nil,
        host: String = "api.example.org",
        to pins: [PublicKeyPins.Pin]?,
        mode: PublicKeyPins.Mode = .enforce
    ) async throws -> Outcome {
        let outcome = Mutex(Outcome())
        let exchanges = URLSessionExchanges(
            pins.map { pins in
                PublicKeyPins(["api.example.org": Set(pins)], mode: mode) { mismatch in
                    outcome.withLock { $0.reports.append(mismatch) }
                }
            }
        )
        let session = URLSession(configuration: .ephemeral)
        let address = try #require(URL(string: "https://api.example.org/"))
        let task = session.dataTask(with: address)
        let exchange = exchanges.begin(task)
        let trust = SecTrust([SecCertificate(certificate)], isValid: isValid)
        let space =
            method.map {
                URLProtectionSpace(
                    host: host,
                    port: 443,
                    protocol: "https",
                    realm: nil,
                    authenticationMethod: $0
                )
            } ?? TrustedSpace(host: host, trust)
        exchanges.urlSession(
            session,
            task: task,
            didReceive: URLAuthenticationChallenge(
                protectionSpace: space,
                proposedCredential: nil,
                previousFailureCount: 0,
                failureResponse: nil,
                error: nil,
                sender: Sender()
            )
        ) { disposition, _ in
            outcome.withLock { $0.disposition = disposition }
        }
        if outcome.withLock({ $0.disposition }) == .cancelAuthenticationChallenge {
            exchanges.urlSession(session, task: task, didCompleteWithError: URLError(.cancelled))
            let error = await #expect(throws: TransportError.self) {
                try await exchange.nextChunk()
            }
            outcome.withLock { $0.error = error }
        }
        session.invalidateAndCancel()
        return outcome.withLock { $0 }
    }

    private final class Sender: NSObject, URLAuthenticationChallengeSender {
        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
    }

    @Test("A server whose key matches proceeds to the usual validation", arguments: samples.indices)
    func fits(_ index: Int) async throws {
        let sample = Self.samples[index]
        let outcome = try await show(sample.certificate, to: [try #require(sample.pin)])
        #expect(outcome.disposition == .performDefaultHandling)
        #expect(outcome.reports.isEmpty)
    }

    @Test("A key that matches no pin ends the call and is reported", arguments: samples.indices)
    func differs(_ index: Int) async throws {
        let (sample, other) = (Self.samples[index], Self.samples[(index + 1) % 3])
        let outcome = try await show(sample.certificate, to: [try #require(other.pin)])
        #expect(outcome.disposition == .cancelAuthenticationChallenge)
        #expect(outcome.error?.code == .tlsPinMismatch)
        #expect(outcome.reports.map(\.digest) == [sample.pin?.digest])
        #expect(outcome.reports.map(\.host) == ["api.example.org"])
    }

    @Test("In audit mode the call continues, and the key is reported")
    func audits() async throws {
        let pin = try #require(Self.samples[1].pin)
        let outcome = try await show(Self.samples[0].certificate, to: [pin], mode: .audit)
        #expect(outcome.disposition == .performDefaultHandling)
        #expect(outcome.reports.count == 1)
    }

    @Test("An unreadable certificate matches no pin")
    func unreadable() async throws {
        let sample = Self.samples[0]
        let pin = try #require(sample.pin)
        for length in 0..<200 {
            let outcome = try await show(sample.certificate.prefix(length), to: [pin])
            #expect(outcome.disposition == .cancelAuthenticationChallenge, "\(length)")
        }
    }

    @Test("An untrusted server is left to the session to refuse and is not reported")
    func untrusted() async throws {
        let pin = try #require(Self.samples[1].pin)
        let outcome = try await show(Self.samples[0].certificate, isValid: false, to: [pin])
        #expect(outcome.disposition == .performDefaultHandling)
        #expect(outcome.reports.isEmpty)
    }

    @Test("Other hosts, other challenges and calls without pins are left to the session")
    func leavesOthers() async throws {
        let certificate = Self.samples[0].certificate
        let pin = try #require(Self.samples[1].pin)
        let outcomes = [
            try await show(certificate, host: "www.example.org", to: [pin]),
            try await show(certificate, method: NSURLAuthenticationMethodHTTPBasic, to: [pin]),
            try await show(certificate, to: nil),
        ]
        for outcome in outcomes {
            #expect(outcome.disposition == .performDefaultHandling)
            #expect(outcome.reports.isEmpty)
        }
    }

    @Test("Calls with different pins use different sessions, and the oldest of many is evicted")
    func separatesSessions() throws {
        let pool = URLSessionPool(.ephemeral)
        func pins(_ number: UInt8, _ mode: PublicKeyPins.Mode = .enforce) throws -> PublicKeyPins {
            let pin = PublicKeyPins.Pin(digest: [UInt8](repeating: number, count: 32))
            return PublicKeyPins(["api.example.org": [try #require(pin)]], mode: mode)
        }
        let plain = try #require(pool.member(for: nil)).session
        let first = try #require(pool.member(for: pins(0))).session
        #expect(plain !== first)
        #expect(pool.member(for: nil)?.session === plain)
        #expect(try pool.member(for: pins(0))?.session === first)
        #expect(try pool.member(for: pins(0, .audit))?.session !== first)
        for number in 1..<UInt8(URLSessionPool.limit) + 1 { _ = try pool.member(for: pins(number)) }
        #expect(try pool.member(for: pins(0))?.session !== first)
        #expect(pool.member(for: nil)?.session === plain)
        pool.invalidate()
        #expect(pool.member(for: nil) == nil)
        // No task is created in an invalidated session.
        let exchange = pool.begin(nil) { session in
            Issue.record("A task is made.")
            return session.dataTask(with: URLRequest(url: URL(filePath: "/")))
        }
        #expect(exchange == nil)
        #expect(try pool.member(for: pins(0)) == nil)
    }

    @Test("The transport declares pinning, and a client with pins can be created")
    func feature() throws { #expect(URLSessionTransport().features.contains(.pinning)) }
}
