#if Crypto
import Foundation
import KeelCore
import KeelSecurity
import KeelTestSupport
import Synchronization
import Testing

@Suite("Key rings")
struct KeyRingTests {
    /// The keysets that a ring has saved.
    private final class Shelf: Sendable {
        let saved = Mutex<[Keyset]>([])
        var last: Keyset? { saved.withLock(\.last) }
    }

    @Test("A key is replaced before its limit, and the saved keyset decrypts every message")
    func limit() throws {
        let shelf = Shelf()
        var configuration = KeyRing.Configuration()
        configuration.messageLimit = 10
        configuration.maximumReservation = 4
        configuration.save = { keyset in shelf.saved.withLock { $0.append(keyset) } }
        let ring = KeyRing(try .make(.aes256GCM), configuration: configuration)
        var perKey: [Data: Int] = [:]
        for number in 0..<35 {
            let sealed = try ring.encrypt(Data([UInt8(number)]), associatedData: Data())
            perKey[sealed.prefix(5), default: 0] += 1
            let after = SecurityService(keyset: try #require(shelf.last))
            #expect(try after.decrypt(sealed) == Data([UInt8(number)]))
        }
        #expect(perKey.values.sorted() == [5, 10, 10, 10])
        #expect(ring.keyset.keys.count == 4)
    }

    @Test("After a crash the count is not too low")
    func crash() throws {
        let shelf = Shelf()
        var configuration = KeyRing.Configuration()
        configuration.messageLimit = 100
        configuration.maximumReservation = 10
        configuration.save = { keyset in shelf.saved.withLock { $0.append(keyset) } }
        var keyset = try Keyset.make(.aes256GCM)
        var count = 0
        for _ in 0..<12 {
            let ring = KeyRing(keyset, configuration: configuration)
            for _ in 0..<11 {
                _ = try ring.encrypt(Data(), associatedData: Data())
                count += 1
                guard ring.keyset.keys.count == 1 else { return #expect(count <= 101) }
                #expect(try #require(shelf.last).primary.usage >= UInt64(count))
            }
            keyset = try Keyset(cleartextBinary: try #require(shelf.last).cleartextBinary())
        }
        Issue.record("no rotation in \(count) messages")
    }

    @Test("A ring that cannot save refuses to encrypt at the limit")
    func noSaving() throws {
        var configuration = KeyRing.Configuration()
        configuration.messageLimit = 3
        let ring = KeyRing(try .make(.aes256GCM), configuration: configuration)
        for _ in 0..<3 { _ = try ring.encrypt(Data(), associatedData: Data()) }
        expectError(SecurityError.self, .usageLimitReached) {
            try ring.encrypt(Data(), associatedData: Data())
        }
    }

    @Test("If saving fails, nothing is encrypted")
    func savingFails() throws {
        struct Full: Error {}
        var configuration = KeyRing.Configuration()
        configuration.save = { _ in throw Full() }
        let ring = KeyRing(try .make(.aes256GCM), configuration: configuration)
        for _ in 0..<2 {
            expectError(SecurityError.self, .keyStoreFailed) {
                try ring.encrypt(Data(), associatedData: Data())
            }
        }
    }

    @Test("Rotation under load fails no read")
    func load() async throws {
        let shelf = Shelf()
        var configuration = KeyRing.Configuration()
        configuration.messageLimit = 50
        configuration.maximumReservation = 7
        configuration.save = { keyset in shelf.saved.withLock { $0.append(keyset) } }
        let ring = KeyRing(try .make(.aes256GCM), configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        let plain = [UInt8(task), UInt8(number)]
                        let sealed = try ring.seal(plain, context: [UInt8(number)])
                        #expect(try ring.open(sealed, context: [UInt8(number)]) == plain)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(ring.keyset.keys.count == 1600 / 50)
    }

    @Test("After re-encryption the older key is no longer needed")
    func reencryption() throws {
        var keyset = try Keyset.make(.aes256GCM)
        let old = keyset.primaryID
        let ring = KeyRing(keyset)
        let place = Data("a".utf8)
        var items = try (0..<10).map { try ring.encrypt(Data([$0]), associatedData: place) }
        try keyset.rotate()
        ring.replace(with: keyset)
        items.append(try ring.encrypt(Data([10]), associatedData: place))
        var report = ReencryptionReport()
        for index in items.indices {
            let new = try ring.reencrypt(items[index], associatedData: place, report: &report)
            items[index] = new ?? items[index]
        }
        #expect(report.moved == [old: 10])
        #expect(report.current == 1)
        try keyset.destroy(old)
        ring.replace(with: keyset)
        for (index, item) in items.enumerated() {
            #expect(try ring.decrypt(item, associatedData: place) == Data([UInt8(index)]))
        }
        #expect(throws: SecurityError.self) {
            try ring.reencrypt(items[0], associatedData: Data(), report: &report)
        }
        #expect(report.unreadable == 1)
    }

    @Test("A ring seals bytes for other areas, differently each time")
    func sealing() throws {
        let ring = KeyRing(try .make(.aes256GCM))
        let sealed = try ring.seal([1, 2, 3], context: [9])
        #expect(try ring.open(sealed, context: [9]) == [1, 2, 3])
        #expect(try ring.seal([1, 2, 3], context: [9]) != sealed)
        #expect(throws: SecurityError.self) { try ring.open(sealed, context: [8]) }
        #expect(throws: SecurityError.self) { try ring.open([], context: []) }
    }

    @Test("A fingerprint has 32 bytes and depends on value, context and keyset")
    func fingerprints() throws {
        let ring = KeyRing(try .make(.aes256GCM))
        let print = try ring.fingerprint([1, 2], context: [3])
        #expect(print.count == 32)
        #expect(try ring.fingerprint([1, 2], context: [3]) == print)
        #expect(try ring.fingerprint([2], context: [3, 1]) != print)
        #expect(try ring.fingerprint([1, 2], context: []) != print)
        #expect(try KeyRing(.make(.aes256GCM)).fingerprint([1, 2], context: [3]) != print)
    }

    @Test("Fingerprints survive key changes, in Keel's keysets and in Tink's")
    func stableFingerprints() throws {
        for keyset in [
            try Keyset.make(.aes256GCM), try Keyset.known("AesGcmKey", key: [UInt8](1...32)),
        ] {
            let print = try KeyRing(keyset).fingerprint([1], context: [])
            var later = keyset
            try later.rotate()
            try later.destroy(keyset.primaryID)
            try later.rotate()
            let copy = try Keyset(cleartextJSON: later.cleartextJSON())
            #expect(try KeyRing(copy).fingerprint([1], context: []) == print)
            var moved = keyset
            let old = moved.primaryID
            try moved.rotate()
            try moved.setPrimary(old)
            try moved.destroy(try #require(moved.keys.last).id)
            #expect(try KeyRing(moved).fingerprint([1], context: []) == print)
        }
    }
}
#endif
