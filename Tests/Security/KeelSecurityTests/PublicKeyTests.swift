#if Crypto
import Foundation
import KeelSecurity
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Public keys")
struct PublicKeyTests {
    private static let rsa = Result { try RSAPrivateKey() }

    @Test("The private key decrypts what the public key encrypted")
    func rsa() throws {
        let key = try Self.rsa.get()
        let copy = try RSAPublicKey(pemRepresentation: key.publicKey.pemRepresentation)
        let place = Data("notes/1".utf8)
        for size in [0, 1, 500, 100_000] {
            let plain = Data(repeating: 65, count: size)
            let sealed = try copy.encrypt(plain, associatedData: place)
            #expect(sealed.count == 384 + 28 + size)
            #expect(try key.decrypt(sealed, associatedData: place) == plain)
        }
        let other = try RSAPrivateKey(pemRepresentation: key.cleartextPEM())
        #expect(try other.unwrap(copy.wrap(place)) == place)
        expectError(SecurityError.self, .encryptionFailed) { try copy.wrap(Data(count: 319)) }
    }

    @Test("Changed, truncated and moved messages are refused")
    func rsaTampering() throws {
        let key = try Self.rsa.get()
        let place = Data("notes/1".utf8)
        let sealed = try key.publicKey.encrypt(Data("hello".utf8), associatedData: place)
        var wrong: [(Data, Data)] = [
            (sealed, Data()), (sealed + [0], place), (Data(), place),
            (sealed.prefix(384), place), (sealed.prefix(100), place), (sealed.dropFirst(), place),
        ]
        for index in stride(from: 0, to: sealed.count, by: 13) {
            var changed = sealed
            changed[index] ^= 1
            wrong.append((changed, place))
        }
        for (data, place) in wrong {
            expectError(SecurityError.self, .decryptionFailed) {
                try key.decrypt(data, associatedData: place)
            }
        }
    }

    @Test("A signature verifies only with its key and data", arguments: SignatureAlgorithm.allCases)
    func signatures(_ algorithm: SignatureAlgorithm) throws {
        let key = SigningKey(algorithm)
        let data = Data("pay 5".utf8)
        let signature = try key.signature(for: data)
        let reader = try VerificationKey(
            rawRepresentation: key.publicKey.rawRepresentation,
            algorithm
        )
        #expect(reader.isValid(signature, for: data))
        #expect(!reader.isValid(signature, for: Data("pay 6".utf8)))
        #expect(!SigningKey(algorithm).publicKey.isValid(signature, for: data))
        #expect(!reader.isValid(Data(), for: data))
        for bit in 0..<signature.count * 8 {
            var changed = signature
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!reader.isValid(changed, for: data))
        }
        let copy = try SigningKey(rawRepresentation: key.cleartextRawRepresentation(), algorithm)
        #expect(reader.isValid(try copy.signature(for: data), for: data))
        expectError(SecurityError.self, .invalidKey) {
            try SigningKey(rawRepresentation: Data([1]), algorithm)
        }
        expectError(SecurityError.self, .invalidKey) {
            try VerificationKey(rawRepresentation: Data([1]), algorithm)
        }
    }

    @Test("A signing key survives PEM coding", arguments: SignatureAlgorithm.allCases)
    func pem(_ algorithm: SignatureAlgorithm) throws {
        let key = SigningKey(algorithm)
        let text = key.cleartextPEM()
        let copy = try SigningKey(pemRepresentation: text)
        #expect(copy.algorithm == algorithm)
        #expect(copy.cleartextRawRepresentation() == key.cleartextRawRepresentation())
        let loose = "\n" + text.replacing("\n", with: "\r\n") + "\n"
        #expect((try? SigningKey(pemRepresentation: loose))?.algorithm == algorithm)
        for count in 0..<text.count - 2 {
            expectError(SecurityError.self, .invalidKey) {
                try SigningKey(pemRepresentation: String(text.prefix(count)))
            }
        }
    }

    @Test("The key of RFC 8410, section 10.3, is read")
    func standardPEM() throws {
        let key = try SigningKey(
            pemRepresentation: """
                -----BEGIN PRIVATE KEY-----
                MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
                -----END PRIVATE KEY-----
                """
        )
        let encoded = key.publicKey.rawRepresentation.base64EncodedString()
        #expect(encoded == "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=")
    }

    @Test("No text or dump of a private key reveals it")
    func noSecrets() throws {
        let key = try Self.rsa.get()
        let signing = SigningKey()
        var text = "\(key) \(signing)"
        dump(key, to: &text)
        dump(signing, to: &text)
        #expect(text.count < 400)
        for word in ["MII", "BEGIN", "SecureBytes"] { #expect(!text.contains(word)) }
        let error = #expect(throws: SecurityError.self) {
            try RSAPrivateKey(pemRepresentation: "hunter2")
        }
        #expect(error.map { "\($0)".contains("hunter2") } == false)
    }
}

@Suite("Public keys in the Python package cryptography", .enabled(if: Peer.isPresent, Peer.absence))
struct PublicKeyPeerTests {
    @Test("RSA-OAEP is decrypted in both directions")
    func rsa() async throws {
        let key = try RSAPrivateKey()
        let pem = Data(try key.cleartextPEM().utf8).base64EncodedString()
        var random = SeededRandom(seed: 51)
        let secrets = (0..<50).map { random.data($0 * 6) }
        var tasks: [[String: String]] = []
        for secret in secrets {
            for (name, data) in [
                ("oaepDecrypt", try key.publicKey.wrap(secret)), ("oaepEncrypt", secret),
            ] {
                tasks.append(["do": name, "pem": pem, "data": data.base64EncodedString()])
            }
        }
        let answers = try await Peer.run(tasks)
        for (index, secret) in secrets.enumerated() {
            #expect(answers[2 * index].bytes == secret, "\(answers[2 * index])")
            #expect(try key.unwrap(try #require(answers[2 * index + 1].bytes)) == secret)
        }
    }

    @Test("PEM is read in both directions", arguments: SignatureAlgorithm.allCases)
    func pem(_ algorithm: SignatureAlgorithm) async throws {
        let name = algorithm == .ed25519 ? "ed25519" : "p256"
        let key = SigningKey(algorithm)
        let ours = Data(key.cleartextPEM().utf8).base64EncodedString()
        let text = Data("pay 5".utf8)
        let answers = try await Peer.run([
            ["do": "makePEM", "kind": name],
            ["do": "sign", "kind": name, "pem": ours, "data": text.base64EncodedString()],
        ])
        let theirs = try #require(answers[0].bytes, "\(answers[0])")
        let made = try SigningKey(pemRepresentation: String(decoding: theirs, as: UTF8.self))
        #expect(made.algorithm == algorithm)
        let signature = try #require(answers[1].bytes, "\(answers[1])")
        #expect(key.publicKey.isValid(signature, for: text))
    }

    @Test("Signatures are verified in both directions", arguments: SignatureAlgorithm.allCases)
    func signatures(_ algorithm: SignatureAlgorithm) async throws {
        let key = SigningKey(algorithm)
        let name = algorithm == .ed25519 ? "ed25519" : "p256"
        let raw = key.cleartextRawRepresentation().base64EncodedString()
        var random = SeededRandom(seed: 52)
        let texts = (0..<200).map { random.data($0) }
        var tasks: [[String: String]] = []
        for text in texts {
            let task = ["key": raw, "kind": name, "data": text.base64EncodedString()]
            let signature = try key.signature(for: text).base64EncodedString()
            tasks.append(task.merging(["do": "sign"]) { $1 })
            tasks.append(task.merging(["do": "verify", "signature": signature]) { $1 })
        }
        let answers = try await Peer.run(tasks)
        for (index, text) in texts.enumerated() {
            let theirs = try #require(answers[2 * index].bytes, "\(answers[2 * index])")
            #expect(key.publicKey.isValid(theirs, for: text))
            #expect(answers[2 * index + 1]["ok"] != nil, "\(answers[2 * index + 1])")
        }
    }
}
#endif
