#if Crypto
import Foundation
import KeelSecurity
import KeelTestKit
import KeelTestSupport
import Testing

private let hybridAlgorithms: [KeyAlgorithm] = [
    .hpkeX25519AES128GCM, .hpkeX25519AES256GCM, .hpkeX25519ChaCha20Poly1305,
]

@Suite("Hybrid encryption")
struct HybridTests {
    @Test("The owner decrypts what the public keyset encrypted", arguments: hybridAlgorithms)
    func roundTrip(_ algorithm: KeyAlgorithm) throws {
        var owner = try Keyset.make(algorithm)
        let place = Data("reports/1".utf8)
        var sealed: [Data] = []
        for number in 0..<4 {
            let text = try owner.publicKeyset().cleartextJSON()
            let sender = try HybridEncryption(publicKeyset: Keyset(cleartextJSON: text))
            sealed.append(try sender.encrypt(Data([UInt8(number)]), contextInfo: place))
            #expect(sealed[number].count == 1 + 5 + 32 + 16)
            try owner.rotate()
        }
        for copy in [
            owner, try Keyset(cleartextJSON: owner.cleartextJSON()),
            try Keyset(cleartextBinary: owner.cleartextBinary()),
        ] {
            let reader = try HybridDecryption(keyset: copy)
            for (number, data) in sealed.enumerated() {
                #expect(try reader.decrypt(data, contextInfo: place) == Data([UInt8(number)]))
            }
        }
        try owner.disable(owner.keys[1].id)
        try owner.destroy(owner.keys[2].id)
        let copy = try Keyset(cleartextJSON: owner.cleartextJSON())
        let reader = try HybridDecryption(keyset: copy)
        for (number, data) in sealed.enumerated() {
            let isReadable = (try? reader.decrypt(data, contextInfo: place)) != nil
            #expect(isReadable == ![1, 2].contains(number))
        }
        #expect(try copy.publicKeyset().keys.count == 4)
    }

    @Test("The next public key becomes primary by its date")
    func dates() throws {
        let start = Date(timeIntervalSince1970: 2_000_000_000)
        var owner = try Keyset.make(.hpkeX25519AES256GCM)
        try owner.setDates(KeyDates(expires: start + 10), of: owner.primaryID)
        let next = try owner.rotate(dates: KeyDates(notBefore: start + 10), at: start)
        let early = try HybridEncryption(publicKeyset: owner.publicKeyset()) { start }
        let late = try HybridEncryption(publicKeyset: owner.publicKeyset()) { start + 10 }
        let sealed = [try early.encrypt(Data([1])), try late.encrypt(Data([2]))]
        #expect(early.publicKeyset.primaryID == owner.primaryID)
        #expect(late.publicKeyset.primaryID == next)
        let reader = try HybridDecryption(keyset: owner)
        #expect(try sealed.map { try reader.decrypt($0) } == [Data([1]), Data([2])])
    }

    @Test("Changed, truncated and moved messages are refused")
    func tampering() throws {
        let owner = try Keyset.make(.hpkeX25519AES256GCM)
        let place = Data("reports/1".utf8)
        let sealed = try HybridEncryption(publicKeyset: owner.publicKeyset())
            .encrypt(Data("hello".utf8), contextInfo: place)
        let reader = try HybridDecryption(keyset: owner)
        var wrong = [(sealed, Data()), (sealed + [0], place)]
        wrong += (0..<sealed.count).map { (Data(sealed.prefix($0)), place) }
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            // X25519 ignores the highest bit of a point (RFC 7748, section 5), but HPKE derives the key from the bytes
            // as received, so the result differs nevertheless.
            wrong.append((changed, place))
        }
        for (data, place) in wrong {
            #expect(throws: SecurityError.self) { try reader.decrypt(data, contextInfo: place) }
        }
        let other = try HybridDecryption(keyset: .make(.hpkeX25519AES256GCM))
        #expect(throws: SecurityError.self) { try other.decrypt(sealed, contextInfo: place) }
    }

    @Test("A public keyset contains no secret and cannot be rotated")
    func publicHalves() throws {
        var owner = try Keyset.make(.hpkeX25519AES256GCM)
        let secret = owner.cleartextJSON()
        var half = try owner.publicKeyset()
        let text = String(decoding: half.cleartextJSON(), as: UTF8.self)
        #expect(text.contains("ASYMMETRIC_PUBLIC") && !text.contains("ASYMMETRIC_PRIVATE"))
        #expect(half.cleartextJSON().count < secret.count - 40)
        #expect(throws: SecurityError.self) { try half.rotate() }
        #expect(throws: SecurityError.self) { try half.publicKeyset() }
        #expect(throws: SecurityError.self) { try owner.rotate(to: .aes256GCM) }
        #expect(throws: SecurityError.self) { try Keyset.make(half.primary.algorithm) }
        #expect(throws: SecurityError.self) { try HybridDecryption(keyset: half) }
        #expect(throws: SecurityError.self) { try HybridEncryption(publicKeyset: owner) }
        #expect(throws: SecurityError.self) { try SecurityService(keyset: owner).encrypt(Data()) }
        #expect(throws: SecurityError.self) { try StreamingEncryption(keyset: owner) }
        #expect(throws: SecurityError.self) { try Keyset.make(.aes256GCM).publicKeyset() }
    }

    @Test("Key halves that do not match are refused")
    func mixedHalves() throws {
        let one = [UInt8](try Keyset.make(.hpkeX25519AES256GCM).cleartextBinary())
        for index in one.indices {
            var changed = one
            changed[index] ^= 1
            // No change may crash the program.
            _ = try? HybridDecryption(keyset: Keyset(cleartextBinary: Data(changed)))
        }
        let half = try Keyset.make(.hpkeX25519AES256GCM).publicKeyset().cleartextBinary()
        // In both forms, a tag and a length precede the 32 bytes of a public key.
        let mark: [UInt8] = [0x1A, 0x20]
        let place = try #require(one.indices.dropLast(34).first { Array(one[$0..<$0 + 2]) == mark })
        let other = try #require(
            half.indices.dropLast(34).first { Array(half[$0..<$0 + 2]) == mark }
        )
        var mixed = one
        mixed.replaceSubrange(place + 2..<place + 34, with: half[other + 2..<other + 34])
        expectError(SecurityError.self, .invalidKey) { try Keyset(cleartextBinary: Data(mixed)) }
    }
}

@Suite("Tink's hybrid encryption in Python", .enabled(if: Peer.isPresent, Peer.absence))
struct HybridPeerTests {
    private static let cases = 250

    @Test("Messages are decrypted in both directions", arguments: hybridAlgorithms, [true, false])
    func bothWays(_ algorithm: KeyAlgorithm, _ isTheirs: Bool) async throws {
        let owner = isTheirs ? try await theirKeyset(algorithm) : try Keyset.make(algorithm)
        let secret = owner.cleartextJSON().base64EncodedString()
        let made = try await Peer.run([["do": "publicKeyset", "keyset": secret]])
        let theirHalf = try Keyset(cleartextJSON: try #require(made[0].bytes, "\(made[0])"))
        let ourHalf = try owner.publicKeyset()
        var random = SeededRandom(seed: 61)
        var tasks: [[String: String]] = []
        var plain: [Data] = []
        for number in 0..<Self.cases {
            let data = random.data(number * 7 % 400)
            let context = random.data(number % 20)
            let half = number.isMultiple(of: 2) ? ourHalf : theirHalf
            let sealed = try HybridEncryption(publicKeyset: half)
                .encrypt(data, contextInfo: context)
            plain.append(data)
            tasks.append([
                "do": "hybridDecrypt", "keyset": secret, "data": sealed.base64EncodedString(),
                "context": context.base64EncodedString(),
            ])
            tasks.append([
                "do": "hybridEncrypt", "keyset": half.cleartextJSON().base64EncodedString(),
                "data": data.base64EncodedString(), "context": context.base64EncodedString(),
            ])
        }
        let answers = try await Peer.run(tasks)
        let reader = try HybridDecryption(keyset: owner)
        for (number, data) in plain.enumerated() {
            #expect(answers[2 * number].bytes == data, "\(answers[2 * number])")
            let context = Data(base64Encoded: tasks[2 * number]["context"] ?? "")
            let theirs = try reader.decrypt(
                try #require(answers[2 * number + 1].bytes, "\(answers[2 * number + 1])"),
                contextInfo: try #require(context)
            )
            #expect(theirs == data)
        }
    }

    private func theirKeyset(_ algorithm: KeyAlgorithm) async throws -> Keyset {
        let answers = try await Peer.run([["do": "make", "template": algorithm.description]])
        return try Keyset(cleartextJSON: try #require(answers[0].bytes, "\(answers[0])"))
    }
}
#endif
