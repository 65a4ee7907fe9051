#if Crypto
import KeelTestSupport
import Foundation
import KeelCore
import KeelSecurity
import Synchronization
import Testing

@Suite("A keyset file shared by several rings")
struct KeysetSharingTests {
    private let files = SimulatedFileSystem()
    private let none = Data()

    private func file(_ sources: FixedKeySource...) -> KeysetFile {
        KeysetFile(
            at: "/app/keys.json",
            under: sources.first ?? FixedKeySource(),
            alternatives: Array(sources.dropFirst()),
            files: files
        )
    }

    private let old = FixedKeySource()
    private let new = FixedKeySource(bytes: [UInt8](1...32))

    @Test("Two rings encrypt in turn, read each other's messages, and share a count")
    func turns() async throws {
        var configuration = KeyRing.Configuration()
        configuration.maximumReservation = 3
        let rings = [
            try await file().ring(creating: .aes256GCM, configuration: configuration),
            try await file().ring(creating: .aes256GCM, configuration: configuration),
        ]
        for number in 0..<40 {
            let sealed = try rings[number % 2].encrypt(Data([UInt8(number)]), associatedData: none)
            let plain = try rings[1 - number % 2].decrypt(sealed, associatedData: none)
            #expect(plain == Data([UInt8(number)]))
        }
        let kept = try await file().load()
        #expect(kept.keys.count == 1)
        #expect((40...46).contains(kept.primary.usage))
    }

    @Test("Another program's rotation applies from the next message on, without a restart")
    func rotation() async throws {
        let ring = try await file().ring(creating: .aes256GCM)
        let before = try ring.encrypt(Data([1]), associatedData: none)
        let changed = try await file().change { keyset throws(SecurityError) in
            try keyset.rotate()
        }
        let after = try ring.encrypt(Data([2]), associatedData: none)
        #expect(ring.keyset.primaryID == changed.primaryID)
        #expect(after.prefix(5) != before.prefix(5))
        #expect(try ring.decrypt(before, associatedData: none) == Data([1]))
        try await file().change { keyset throws(SecurityError) in
            try keyset.disable(keyset.keys[0].id)
        }
        expectError(SecurityError.self, .decryptionFailed) {
            try ring.decrypt(before, associatedData: none)
        }
        #expect(try ring.decrypt(after, associatedData: none) == Data([2]))
    }

    @Test("Nothing is encrypted with a key that another program has destroyed")
    func destruction() async throws {
        let ring = try await file().ring(creating: .aes256GCM)
        _ = try ring.encrypt(Data(), associatedData: none)
        let first = ring.keyset.primaryID
        try await file().change { keyset throws(SecurityError) in
            try keyset.rotate()
            try keyset.destroy(first)
        }
        let sealed = try ring.encrypt(Data([3]), associatedData: none)
        let restarted = try await file().ring()
        #expect(try restarted.decrypt(sealed, associatedData: none) == Data([3]))
        #expect(ring.keyset.key(first)?.status == .destroyed)
    }

    @Test("A ring whose key is missing from the file refuses to encrypt but still decrypts")
    func otherKeyset() async throws {
        let ring = try await file().ring(creating: .aes256GCM)
        let sealed = try ring.encrypt(Data([1]), associatedData: none)
        let disk = files.disk
        files.vanish()
        for _ in 0..<2 {
            expectError(SecurityError.self, .keyStoreFailed) {
                try ring.encrypt(Data(), associatedData: none)
            }
        }
        #expect(try ring.decrypt(sealed, associatedData: none) == Data([1]))
        try await file().create(try Keyset.make(.aes256GCM))
        for _ in 0..<2 {
            expectError(SecurityError.self, .keyStoreFailed) {
                try ring.encrypt(Data(), associatedData: none)
            }
        }
        #expect(try ring.decrypt(sealed, associatedData: none) == Data([1]))
        ring.replace(with: try await file().load())
        let accepted = try ring.encrypt(Data([2]), associatedData: none)
        let service = SecurityService(keyset: try await file().load())
        #expect(try service.decrypt(accepted) == Data([2]))
        files.disk = disk
        #expect(try await file().load().primaryID != ring.keyset.primaryID)
    }

    @Test("A count that another program has lowered is raised again")
    func loweredCount() async throws {
        let ring = try await file().ring(creating: .aes256GCM)
        let early = try await file().load()
        for _ in 0..<40 { _ = try ring.encrypt(Data(), associatedData: none) }
        let copy = try await early.encrypted(under: old)
        files.disk = SimulatedDisk()
        try await file().create(try await Keyset(encrypted: copy, under: old))
        for _ in 0..<200 { _ = try ring.encrypt(Data(), associatedData: none) }
        #expect(try await file().load().primary.usage >= 240)
    }

    @Test("A program that encrypts one message uses up few of the key's messages")
    func shortPrograms() async throws {
        for _ in 0..<20 {
            let ring = try await file().ring(creating: .aes256GCM)
            _ = try ring.encrypt(Data(), associatedData: none)
        }
        let usage = try await file().load().primary.usage
        #expect((20...320).contains(usage))
    }

    @Test("Rings that know both key-encryption keys continue when the key is changed")
    func rewrapping() async throws {
        let ring = try await file(new, old).ring(creating: .aes256GCM)
        try await file(new).rewrap(under: old)
        let sealed = try ring.encrypt(Data([1]), associatedData: none)
        try await file(old).rewrap(under: new)
        for _ in 0..<100 { _ = try ring.encrypt(Data(), associatedData: none) }
        let kept = try await file(new).load()
        #expect(try SecurityService(keyset: kept).decrypt(sealed) == Data([1]))
        await #expect(throws: SecurityError.self) { try await file(old).load() }
    }

    @Test("A rewrap that fails or lacks the right key leaves the file unchanged")
    func failedRewrap() async throws {
        try await file(old).create(try Keyset.make(.aes256GCM))
        let before = files.disk["/app/keys.json"]
        await #expect(throws: SecurityError.self) { try await file(new).rewrap(under: new) }
        files.fail { if case .rename = $0 { FileSystemError.inputOutput } else { nil } }
        await #expect(throws: SecurityError.self) { try await file(old).rewrap(under: new) }
        files.fail(nil)
        #expect(files.disk["/app/keys.json"] == before)
        await #expect(throws: SecurityError.self) {
            try await KeysetFile(
                at: "/app/keys.json",
                under: FailingKeySource(),
                alternatives: [new],
                files: files
            ).load()
        }
        let other = KeysetFile(
            at: "/app/keys.json",
            under: FailingKeySource(),
            alternatives: [old],
            files: files
        )
        #expect(try await other.load().keys.count == 1)
    }

    @Test("A ring with only the old key uses up its reservation and continues after a refresh")
    func lateKey() async throws {
        let source = ChangingKeySource(old)
        let file = KeysetFile(at: "/app/keys.json", under: source, files: files)
        let ring = try await file.ring(creating: .aes256GCM)
        let sealed = try ring.encrypt(Data([1]), associatedData: none)
        try await self.file(old).rewrap(under: new)
        for _ in 0..<15 { _ = try ring.encrypt(Data(), associatedData: none) }
        expectError(SecurityError.self, .keyStoreFailed) {
            try ring.encrypt(Data(), associatedData: none)
        }
        #expect(try ring.decrypt(sealed, associatedData: none) == Data([1]))
        await #expect(throws: SecurityError.self) { try await ring.refresh() }
        source.change(to: new)
        try await ring.refresh()
        _ = try ring.encrypt(Data(), associatedData: none)
        #expect(try await self.file(new).load().primary.usage > 16)
    }

    @Test("A ring that cannot read the file stops when its key has been destroyed")
    func unreadableDestruction() async throws {
        let ring = try await file(old).ring(creating: .aes256GCM)
        _ = try ring.encrypt(Data(), associatedData: none)
        try await file(old).rewrap(under: new)
        _ = try ring.encrypt(Data(), associatedData: none)
        try await file(new).change { keyset throws(SecurityError) in
            let first = keyset.primaryID
            try keyset.rotate()
            try keyset.destroy(first)
        }
        expectError(SecurityError.self, .keyStoreFailed) {
            try ring.encrypt(Data(), associatedData: none)
        }
    }

    @Test(
        "A ring continues if another key is due and the file fails, unless its own has expired",
        arguments: [false, true]
    )
    func unreadableAtDate(isExpired: Bool) async throws {
        let begin = Date(timeIntervalSince1970: 2_000_000_000)
        var keyset = try Keyset.make(.aes256GCM)
        let first = keyset.primaryID
        if isExpired { try keyset.setDates(KeyDates(expires: begin + 60), of: first) }
        let second = try keyset.rotate(dates: KeyDates(notBefore: begin + 60), at: begin)
        try await file().create(keyset)
        let now = Mutex(begin)
        var configuration = KeyRing.Configuration()
        configuration.now = { now.withLock { $0 } }
        let ring = try await file().ring(configuration: configuration)
        _ = try ring.encrypt(Data(), associatedData: none)
        now.withLock { $0 += 60 }
        files.fail { if case .open = $0 { FileSystemError.inputOutput } else { nil } }
        if isExpired {
            expectError(SecurityError.self, .keyStoreFailed) {
                try ring.encrypt(Data(), associatedData: none)
            }
        } else {
            // The rest of the first reservation.
            for _ in 0..<15 { _ = try ring.encrypt(Data(), associatedData: none) }
            #expect(ring.keyset.primaryID == first)
            expectError(SecurityError.self, .keyStoreFailed) {
                try ring.encrypt(Data(), associatedData: none)
            }
        }
        files.fail(nil)
        _ = try ring.encrypt(Data(), associatedData: none)
        #expect(ring.keyset.primaryID == second)
    }

    @Test(
        "A refresh notices that the file has lost the ring's key, even if it cannot be read",
        arguments: [false, true]
    )
    func refreshAfterLoss(isReadable: Bool) async throws {
        let ring = try await file(old).ring(creating: .aes256GCM)
        _ = try ring.encrypt(Data(), associatedData: none)
        if isReadable {
            files.disk = SimulatedDisk()
            try await file(old).create(try Keyset.make(.aes256GCM))
            try await ring.refresh()
        } else {
            try await file(old).change { keyset throws(SecurityError) in
                let first = keyset.primaryID
                try keyset.rotate()
                try keyset.destroy(first)
            }
            try await file(old).rewrap(under: new)
            await expectError(SecurityError.self, .decryptionFailed) { try await ring.refresh() }
        }
        for _ in 0..<2 {
            expectError(SecurityError.self, .keyStoreFailed) {
                try ring.encrypt(Data(), associatedData: none)
            }
        }
    }

    @Test("Rings of many tasks on one file count every message")
    func load() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "keel-keys-\(UUID().uuidString)"
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = KeysetFile(at: folder.appending(path: "keys.json"), under: FixedKeySource())
        var configuration = KeyRing.Configuration()
        configuration.messageLimit = 100
        configuration.maximumReservation = 20
        let settings = configuration
        try await file.create(try Keyset.make(.aes256GCM))
        let sealed = try await withThrowingTaskGroup(of: [Data].self) { group in
            for task in 0..<6 {
                group.addTask {
                    let ring = try await file.ring(configuration: settings)
                    return try (0..<150).map { number in
                        let plain = Data([UInt8(task), UInt8(number)])
                        return try ring.encrypt(plain, associatedData: Data())
                    }
                }
            }
            group.addTask {
                for _ in 0..<5 {
                    try await file.change { keyset throws(SecurityError) in try keyset.rotate() }
                }
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let kept = try await file.load()
        let counts = Dictionary(grouping: sealed) { $0.prefix(5) }.mapValues(\.count)
        #expect(sealed.count == 900)
        #expect(counts.values.allSatisfy { $0 <= 100 })
        let service = SecurityService(keyset: kept)
        for message in sealed { _ = try service.decrypt(message) }
        #expect(kept.keys.reduce(0) { $0 + $1.usage } >= 900)
    }
}

final class ChangingKeySource: KeyEncryptionKeySource {
    private let state: Mutex<FixedKeySource>

    init(_ source: FixedKeySource) { state = Mutex(source) }

    func change(to source: FixedKeySource) { state.withLock { $0 = source } }

    func keyEncryptionKey() async throws -> KeyEncryptionKey {
        try await state.withLock { $0 }.keyEncryptionKey()
    }
}
#endif
