#if Crypto
import Foundation
import KeelSecurity
import Testing

@Suite("The texts of sealed files and keys")
struct SealedFileTextTests {
    // MARK: Armor

    private func armored(_ bytes: Data, pieces: Int) -> Data {
        var armorer = SealedFileArmorer()
        var text = Data()
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            text += armorer.update(bytes[start..<min(start + pieces, bytes.count)])
        }
        return text + armorer.finish()
    }

    private func dearmored(_ text: Data, pieces: Int) throws -> Data {
        var dearmorer = SealedFileDearmorer()
        var bytes = Data()
        for start in stride(from: 0, to: text.count, by: pieces) {
            try bytes += dearmorer.update(text[start..<min(start + pieces, text.count)])
        }
        return try bytes + dearmorer.finish()
    }

    @Test("Text becomes the same bytes", arguments: [0, 1, 2, 3, 47, 48, 49, 96, 1000])
    func roundTrip(count: Int) throws {
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 31) })
        for pieces in [1, 7, 48, 5000] {
            let text = armored(bytes, pieces: pieces)
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
            #expect(lines.first == "-----BEGIN KEEL SEALED FILE-----")
            #expect(lines.last == "-----END KEEL SEALED FILE-----")
            #expect(lines.dropFirst().dropLast(2).allSatisfy { $0.count == 64 })
            #expect(SealedFileArmor.isArmored(text) == true)
            #expect(try dearmored(text, pieces: pieces) == bytes)
            let sent = String(decoding: text, as: UTF8.self).replacing("\n", with: "\r\n")
            #expect(try dearmored(Data(" \r\n\(sent)\r\n".utf8), pieces: pieces) == bytes)
        }
    }

    @Test("Damaged and truncated text is refused")
    func damaged() {
        let bytes = Data(repeating: 9, count: 100)
        let text = String(decoding: armored(bytes, pieces: 100), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        let wrong = [
            "", "x", lines.dropLast().joined(separator: "\n"),
            lines.dropFirst().joined(separator: "\n"), text + "more\n", text + text,
            text.replacing("CQ", with: "C*"), lines.joined(separator: "\n\n"),
            ([lines[0], "QUJD"] + lines.dropFirst()).joined(separator: "\n"),
        ]
        for text in wrong {
            #expect(throws: SecurityError.self, "\(text)") {
                try dearmored(Data(text.utf8), pieces: 11)
            }
        }
    }

    @Test("A few bytes may not be enough to know the form")
    func form() {
        #expect(SealedFileArmor.isArmored(Data()) == nil)
        #expect(SealedFileArmor.isArmored(Data("\n -----BEGIN KEEL".utf8)) == nil)
        #expect(SealedFileArmor.isArmored(Data("-----BEGIN PGP".utf8)) == false)
        #expect(SealedFileArmor.isArmored(Data("KEELSEAL".utf8)) == false)
    }

    // MARK: Keys

    @Test("A private key and its recipient are read from each of their texts")
    func keyTexts() throws {
        let identity = SealedFileIdentity()
        for text in [
            identity.cleartextText(), identity.cleartextPEM(), identity.cleartextJWK(),
            "# made today\n\n\(identity.cleartextText())\n",
        ] {
            #expect(try SealedFileIdentity(text).recipient == identity.recipient)
            #expect(throws: SecurityError.self) { try SealedFileRecipient(text) }
        }
        let recipient = identity.recipient
        for text in [
            recipient.description, recipient.pemRepresentation, recipient.jwkRepresentation,
        ] {
            #expect(try SealedFileRecipient(text) == recipient)
            #expect(throws: SecurityError.self) { try SealedFileIdentity(text) }
        }
        #expect(!"\(identity)".contains("keelsec1"))
    }

    @Test("A typing error in a key is noticed")
    func typingErrors() {
        let text = SealedFileIdentity().recipient.description
        for index in text.indices {
            var changed = text
            let next: Character = text[index] == "a" ? "b" : "a"
            changed.replaceSubrange(index...index, with: [next])
            #expect(throws: SecurityError.self, "\(changed)") { try SealedFileRecipient(changed) }
        }
    }

    @Test("Keys of the RFCs are read and written: X25519 in RFC 8037, Ed25519 in RFC 8037 and 8410")
    func publishedKeys() throws {
        let x25519 = try SealedFileRecipient(
            #"{"kty":"OKP","crv":"X25519","x":"3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"}"#
        )
        #expect(x25519.jwkRepresentation.contains("3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"))
        let jwk = """
            {"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
            "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
            """
        let signing = try SigningKey(jwkRepresentation: jwk)
        let half = signing.publicKey.jwkRepresentation
        #expect(half.contains("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))
        #expect(throws: SecurityError.self) { try VerificationKey(jwkRepresentation: jwk) }
        let pem = """
            -----BEGIN PUBLIC KEY-----
            MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
            -----END PUBLIC KEY-----
            """
        let key = try VerificationKey(pemRepresentation: pem)
        #expect(key.pemRepresentation == pem + "\n")
        let halves = jwk.replacing("11qY", with: "11qZ")
        #expect(throws: SecurityError.self) { try SigningKey(jwkRepresentation: halves) }
    }

    @Test("Keys for signatures pass through PEM and JWK", arguments: SignatureAlgorithm.allCases)
    func signingKeys(_ algorithm: SignatureAlgorithm) throws {
        let key = SigningKey(algorithm)
        let signature = try SigningKey(jwkRepresentation: key.cleartextJWK())
            .signature(for: Data("pay 5".utf8))
        for copy in [
            try VerificationKey(pemRepresentation: key.publicKey.pemRepresentation),
            try VerificationKey(jwkRepresentation: key.publicKey.jwkRepresentation),
        ] {
            #expect(copy.algorithm == algorithm)
            #expect(copy.isValid(signature, for: Data("pay 5".utf8)))
            #expect(!copy.isValid(signature, for: Data("pay 6".utf8)))
        }
    }
}
#endif
