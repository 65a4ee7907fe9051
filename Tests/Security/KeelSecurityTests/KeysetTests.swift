#if Crypto
import Foundation
import KeelCore
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelSecurity

@Suite("Keysets")
struct KeysetTests {
    private let start = Date(timeIntervalSince1970: 1_795_341_600)

    @Test("Both formats preserve everything", arguments: valueAlgorithms + streamAlgorithms)
    func formats(_ algorithm: KeyAlgorithm) throws {
        var keyset = try Keyset.make(algorithm)
        let first = keyset.primaryID
        try keyset.setDates(
            KeyDates(created: start, expires: start + 10, destroyAfter: start + 20),
            of: first
        )
        let second = try keyset.rotate(dates: KeyDates(created: start), at: start)
        try keyset.disable(first)
        let third = try keyset.rotate(at: start)
        try keyset.destroy(second)
        for copy in [
            try Keyset(cleartextBinary: keyset.cleartextBinary()),
            try Keyset(cleartextJSON: keyset.cleartextJSON()),
        ] {
            #expect(copy.primaryID == third)
            #expect(copy.keys.map(\.id) == [first, second, third])
            #expect(copy.keys.map(\.status) == [.disabled, .destroyed, .enabled])
            #expect(copy.keys.map(\.dates) == keyset.keys.map(\.dates))
            #expect(copy.keys.map(\.algorithm) == [algorithm, algorithm, algorithm])
            #expect(copy.cleartextBinary() == keyset.cleartextBinary())
        }
    }

    @Test("After a rotation, old data is readable until its key is disabled")
    func rotation() throws {
        var keyset = try Keyset.make(.aes256GCM)
        let old = keyset.primaryID
        let sealed = try SecurityService(keyset: keyset).encrypt(Data("old".utf8))
        try keyset.rotate(to: .chaCha20Poly1305)
        let both = SecurityService(keyset: keyset)
        #expect(try both.decrypt(sealed) == Data("old".utf8))
        #expect(try both.encrypt(Data()).prefix(5) != sealed.prefix(5))
        try keyset.disable(old)
        #expect(refuses(keyset, sealed))
        try keyset.enable(old)
        #expect(!refuses(keyset, sealed))
        try keyset.destroy(old)
        #expect(refuses(keyset, sealed))
        expectError(SecurityError.self, .invalidArgument) { try keyset.enable(old) }
        expectError(SecurityError.self, .invalidArgument) { try keyset.setPrimary(old) }
    }

    @Test("The primary key cannot be disabled or destroyed, and an unknown key is not found")
    func primary() throws {
        var keyset = try Keyset.make(.aes256GCM)
        let id = keyset.primaryID
        expectError(SecurityError.self, .invalidArgument) { try keyset.disable(id) }
        expectError(SecurityError.self, .invalidArgument) { try keyset.destroy(id) }
        expectError(SecurityError.self, .keyNotFound) { try keyset.disable(id &+ 1) }
    }

    @Test("Dates promote and expire keys, and destroy them only in a call of its own")
    func dates() throws {
        var keyset = try Keyset.make(.aes256GCM)
        let old = keyset.primaryID
        try keyset.setDates(KeyDates(destroyAfter: start + 100), of: old)
        let next = try keyset.rotate(dates: KeyDates(notBefore: start + 10), at: start)
        #expect(keyset.primaryID == old)
        let changes = [9, 10, 99, 100, 1_000_000_000].map { keyset.advance(to: start + $0) }
        #expect(changes == [false, true, false, false, false])
        #expect(keyset.primaryID == next)
        #expect(keyset.key(old)?.status == .enabled)
        let destructions = [99, 100, 101].map { keyset.destroyKeys(dueAt: start + $0) }
        #expect(destructions == [false, true, false])
        #expect(keyset.key(old)?.status == .destroyed)
        expectError(SecurityError.self, .invalidArgument) {
            try keyset.rotate(dates: KeyDates(expires: start), at: start)
        }
    }

    @Test("Returning to an older key is permanent")
    func goingBack() throws {
        var keyset = try Keyset.make(.aes256GCM)
        let old = keyset.primaryID
        let next = try keyset.rotate(dates: KeyDates(notBefore: start + 10), at: start)
        keyset.advance(to: start + 10)
        #expect(keyset.primaryID == next)
        try keyset.setPrimary(old, at: start + 20)
        keyset.advance(to: start + 30)
        #expect(keyset.primaryID == old)
    }

    @Test("A scheduled key becomes the primary key at its date, whichever is primary until then")
    func staysScheduled() throws {
        var scheduled = try Keyset.make(.aes256GCM)
        let old = scheduled.primaryID
        let last = try scheduled.rotate(dates: KeyDates(notBefore: start + 20), at: start)
        let next = try scheduled.rotate(dates: KeyDates(notBefore: start + 10), at: start)
        var advanced = scheduled
        advanced.advance(to: start + 10)
        #expect(advanced.primaryID == next)
        advanced.advance(to: start + 20)
        #expect(advanced.primaryID == last)
        // As at the message limit.
        var rotated = scheduled
        let current = try rotated.rotate(at: start)
        #expect(rotated.primaryID == current)
        #expect(rotated.keys.map(\.id) == [old, current, last, next])
        rotated.advance(to: start + 20)
        #expect([last, next].contains(rotated.primaryID))
        try rotated.setPrimary(old, at: start + 20)
        rotated.advance(to: start + 30)
        #expect(rotated.primaryID == old)
    }

    @Test("An expired primary key is replaced, or encryption is refused")
    func expiry() throws {
        var keyset = try Keyset.make(.aes256GCM)
        let first = keyset.primaryID
        let second = try keyset.rotate(dates: KeyDates(expires: start + 10), at: start)
        let clock = start
        var configuration = KeyRing.Configuration()
        configuration.now = { clock + 10 }
        let ring = KeyRing(keyset, configuration: configuration)
        let sealed = try ring.encrypt(Data(), associatedData: Data())
        #expect(ring.keyset.primaryID == first)
        #expect(keyset.primaryID == second)
        try keyset.disable(first)
        let alone = KeyRing(keyset, configuration: configuration)
        expectError(SecurityError.self, .keyNotFound) {
            try alone.encrypt(Data(), associatedData: Data())
        }
        #expect(throws: SecurityError.self) { try alone.decrypt(sealed, associatedData: Data()) }
    }

    @Test("The bytes that a keyset was read from are overwritten in place")
    func wiping() throws {
        let keyset = try Keyset.make(.aes256GCM)
        var bytes = [UInt8](keyset.cleartextBinary())
        let place = bytes.withUnsafeBytes { $0.baseAddress }
        let read = try Keyset(wiping: &bytes)
        #expect(read.primaryID == keyset.primaryID)
        #expect(bytes.withUnsafeBytes { $0.baseAddress } == place)
        #expect(bytes.allSatisfy { $0 == 0 })
    }

    @Test(
        "An encrypted keyset requires its key and its associated data",
        arguments: [Keyset.Format.json, .binary]
    )
    func encrypted(_ format: Keyset.Format) async throws {
        let keyset = try Keyset.make(.aes256GCM)
        let key = try await FixedKeySource().keyEncryptionKey()
        let other = try await FixedKeySource(bytes: [UInt8](1...32)).keyEncryptionKey()
        let place = Data("app".utf8)
        let bytes = try keyset.encrypted(under: key, associatedData: place, format: format)
        let copy = try Keyset(encrypted: bytes, under: key, associatedData: place)
        #expect(copy.cleartextBinary() == keyset.cleartextBinary())
        let again = try await keyset.encrypted(under: FixedKeySource(), format: format)
        let third = try await Keyset(encrypted: again, under: FixedKeySource())
        #expect(third.cleartextBinary() == keyset.cleartextBinary())
        for (key, place) in [(other, place), (key, Data())] {
            expectError(SecurityError.self, .decryptionFailed) {
                try Keyset(encrypted: bytes, under: key, associatedData: place)
            }
        }
        for length in 0..<bytes.count {
            #expect(throws: SecurityError.self) {
                let copy = try Keyset(
                    encrypted: bytes.prefix(length),
                    under: key,
                    associatedData: place
                )
                // The description at the end is neither secret nor needed.
                if copy.primaryID == keyset.primaryID { throw SecurityError(.invalidKey, "whole") }
            }
        }
    }

    @Test("A destroyed key without key material from Tink is accepted")
    func hollow() throws {
        let keyset = try Keyset.make(.aes256GCM)
        let sealed = try SecurityService(keyset: keyset).encrypt(Data("hello".utf8))
        let text = String(decoding: keyset.cleartextJSON(), as: UTF8.self)
        let hollow = #"{"keyId":7,"outputPrefixType":"TINK","status":"DESTROYED"},"#
        let json = text.replacing(#""key":["#, with: #""key":["# + hollow)
        #expect(json != text)
        let copy = try Keyset(cleartextJSON: Data(json.utf8))
        #expect(copy.key(7)?.status == .destroyed && copy.keys.count == 2)
        let again = try Keyset(cleartextBinary: copy.cleartextBinary())
        #expect(try SecurityService(keyset: again).decrypt(sealed) == Data("hello".utf8))
    }

    @Test("Early dates survive coding")
    func earlyDates() throws {
        var keyset = try Keyset.make(.aes256GCM)
        try keyset.setDates(KeyDates(expires: .distantPast), of: keyset.primaryID)
        let copy = try Keyset(cleartextJSON: keyset.cleartextJSON())
        #expect(copy.primary.dates.allowsEncryption(at: .now) == false)
    }

    @Test("A failing source is reported")
    func sources() async throws {
        let keyset = try Keyset.make(.aes256GCM)
        await expectError(SecurityError.self, .keyStoreFailed) {
            try await keyset.encrypted(under: FailingKeySource())
        }
    }

    @Test("Damaged keysets are rejected without a crash")
    func damaged() throws {
        let bytes = try Keyset.make(.aes256GCM).cleartextBinary()
        for length in 0..<bytes.count { _ = try? Keyset(cleartextBinary: bytes.prefix(length)) }
        var random = SeededRandom(seed: 3)
        for _ in 0..<2000 {
            var changed = bytes
            changed[Int.random(in: 0..<bytes.count, using: &random)] = random.data(1)[0]
            _ = try? Keyset(cleartextBinary: changed)
        }
        for text in ["", "{}", "[]", "{\"primaryKeyId\":1,\"key\":[]}"] {
            expectError(SecurityError.self, .invalidKey) {
                try Keyset(cleartextJSON: Data(text.utf8))
            }
        }
        #expect(throws: SecurityError.self) { try Keyset.known("AesGcmKey", key: [1, 2, 3]) }
        expectError(SecurityError.self, .unsupportedKey) {
            try Keyset.known("XChaCha20Poly1305Key", key: [UInt8](1...32))
        }
    }

    private func refuses(_ keyset: Keyset, _ sealed: Data) -> Bool {
        do throws(SecurityError) {
            _ = try SecurityService(keyset: keyset).decrypt(sealed)
            return false
        } catch { return error.code == .decryptionFailed }
    }
}
#endif
