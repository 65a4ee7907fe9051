#if Crypto
import Foundation
import KeelSecurity
import KeelTestKit
import Testing

@Suite("Tink in Python", .enabled(if: Peer.isPresent, Peer.absence))
struct TinkTests {
    private static let cases = 500

    @Test(
        "Tink decrypts what Keel encrypts",
        arguments: valueAlgorithms.filter { $0 != .chaCha20Poly1305 }
    )
    func theyRead(_ algorithm: KeyAlgorithm) async throws {
        var random = SeededRandom(seed: 11)
        var keyset = try Keyset.make(algorithm)
        var tasks: [[String: String]] = []
        var plain: [Data] = []
        for number in 0..<Self.cases {
            // Rotated, disabled and destroyed keys must not interfere.
            if number % 50 == 49 {
                let old = keyset.primaryID
                try keyset.rotate()
                if number % 100 == 49 { try keyset.disable(old) } else { try keyset.destroy(old) }
            }
            let data = random.data(Int.random(in: 0...300, using: &random))
            let context = random.data(Int.random(in: 0...30, using: &random))
            let sealed = try SecurityService(keyset: keyset).encrypt(data, associatedData: context)
            let isBinary = number.isMultiple(of: 2)
            plain.append(data)
            tasks.append([
                "do": "decrypt", "data": sealed.base64EncodedString(),
                "context": context.base64EncodedString(), "format": isBinary ? "binary" : "json",
                "keyset": (isBinary ? keyset.cleartextBinary() : keyset.cleartextJSON())
                    .base64EncodedString(),
            ])
        }
        let answers = try await Peer.run(tasks)
        for (answer, data) in zip(answers, plain) {
            #expect(answer.bytes == data, "\(answer["error"] ?? "")")
        }
    }

    @Test(
        "Keel decrypts what Tink encrypts",
        arguments: ["AES256_GCM", "AES128_GCM", "AES256_GCM_SIV", "AES256_GCM_RAW"]
    )
    func weRead(_ template: String) async throws {
        var random = SeededRandom(seed: 12)
        let made = try await Peer.run(
            ["json", "binary"].map { ["do": "make", "template": template, "format": $0] }
        )
        let keysets = try made.map { try #require($0.bytes, "\($0)") }
        var tasks: [[String: String]] = []
        for number in 0..<Self.cases {
            tasks.append([
                "do": "encrypt", "keyset": keysets[number % 2].base64EncodedString(),
                "format": number % 2 == 0 ? "json" : "binary",
                "data": random.data(number % 300).base64EncodedString(),
                "context": random.data(number % 20).base64EncodedString(),
            ])
        }
        let services = [
            SecurityService(keyset: try Keyset(cleartextJSON: keysets[0])),
            SecurityService(keyset: try Keyset(cleartextBinary: keysets[1])),
        ]
        let answers = try await Peer.run(tasks)
        for (number, (task, answer)) in zip(tasks, answers).enumerated() {
            let plain = try services[number % 2].decrypt(
                try #require(answer.bytes),
                associatedData: try #require(Data(base64Encoded: task["context"] ?? ""))
            )
            #expect(plain.base64EncodedString() == task["data"])
        }
    }

    @Test("ChaCha20-Poly1305 matches the Python package cryptography")
    func chaCha() async throws {
        var random = SeededRandom(seed: 14)
        let key = random.data(32)
        let service = SecurityService(
            keyset: try Keyset.known(
                "ChaCha20Poly1305Key",
                key: [UInt8](key),
                field: 2,
                prefix: "TINK"
            )
        )
        var tasks: [[String: String]] = []
        var plain: [Data] = []
        for number in 0..<Self.cases {
            let context = random.data(number % 20)
            plain.append(random.data(number % 300))
            let sealed = try service.encrypt(plain[number], associatedData: context)
            #expect(sealed.prefix(5) == Data([1, 0, 0, 0, 7]))
            for (name, data) in [
                ("chachaDecrypt", sealed.dropFirst(5)), ("chachaEncrypt", plain[number]),
            ] {
                tasks.append([
                    "do": name, "key": key.base64EncodedString(),
                    "data": data.base64EncodedString(), "context": context.base64EncodedString(),
                ])
            }
        }
        let answers = try await Peer.run(tasks)
        for number in plain.indices {
            #expect(answers[2 * number].bytes == plain[number])
            let context = Data(base64Encoded: tasks[2 * number]["context"] ?? "")
            let theirs = try service.decrypt(
                Data([1, 0, 0, 0, 7]) + (try #require(answers[2 * number + 1].bytes)),
                associatedData: try #require(context)
            )
            #expect(theirs == plain[number])
        }
    }

    @Test("Encrypted keysets are read in both directions")
    func encryptedKeysets() async throws {
        let kek = [UInt8](0..<32)
        let kekJSON = try Keyset.known("AesGcmKey", key: kek).cleartextJSON().base64EncodedString()
        let key = try await FixedKeySource(bytes: kek).keyEncryptionKey()
        var random = SeededRandom(seed: 13)
        for format in [Keyset.Format.json, .binary] {
            let keyset = try Keyset.make(.aes256GCM)
            let place = random.data(9)
            let context = Data("c".utf8)
            let sealed = try SecurityService(keyset: keyset)
                .encrypt(Data("hello".utf8), associatedData: context)
            let wrapped = try keyset.encrypted(under: key, associatedData: place, format: format)
            let answers = try await Peer.run([
                [
                    "do": "decrypt", "encrypted": wrapped.base64EncodedString(), "kek": kekJSON,
                    "keyContext": place.base64EncodedString(),
                    "format": format == .json ? "json" : "binary",
                    "data": sealed.base64EncodedString(), "context": context.base64EncodedString(),
                ],
                [
                    "do": "encryptKeyset", "kek": kekJSON,
                    "keyset": keyset.cleartextJSON().base64EncodedString(),
                    "keyContext": place.base64EncodedString(),
                    "output": format == .json ? "json" : "binary",
                ],
            ])
            #expect(answers[0].bytes == Data("hello".utf8), "\(answers[0])")
            let theirs = try Keyset(
                encrypted: try #require(answers[1].bytes),
                under: key,
                associatedData: place
            )
            #expect(theirs.primaryID == keyset.primaryID)
            let plain = try SecurityService(keyset: theirs).decrypt(sealed, associatedData: context)
            #expect(plain == Data("hello".utf8))
        }
    }

    @Test("Tink refuses tampered data as Keel does")
    func refusals() async throws {
        let keyset = try Keyset.make(.aes256GCM)
        let sealed = try SecurityService(keyset: keyset).encrypt(Data("hello".utf8))
        func task(_ data: Data) -> [String: String] {
            [
                "do": "decrypt", "keyset": keyset.cleartextJSON().base64EncodedString(),
                "data": data.base64EncodedString(), "context": "",
            ]
        }
        let tampered = sealed.indices.map { index in
            var changed = sealed
            changed[index] ^= 1
            return changed
        }
        // Tink must refuse the data for the change and for nothing else.
        var answers = try await Peer.run((tampered + [sealed]).map(task))
        let untouched = answers.removeLast()
        #expect(untouched.bytes == Data("hello".utf8))
        #expect(answers.allSatisfy { $0["error"] != nil })
    }
}
#endif
