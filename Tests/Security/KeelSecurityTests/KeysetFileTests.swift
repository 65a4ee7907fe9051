#if Crypto
import Foundation
import KeelCore
import KeelSecurity
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Keyset files")
struct KeysetFileTests {
    private let files = SimulatedFileSystem()

    private func file(
        _ bytes: [UInt8] = [UInt8](0..<32),
        on other: SimulatedFileSystem? = nil
    ) -> KeysetFile {
        KeysetFile(at: "/app/keys.json", under: FixedKeySource(bytes: bytes), files: other ?? files)
    }

    @Test("A keyset file is created once, read and changed")
    func lifecycle() async throws {
        await expectError(SecurityError.self, .keyNotFound) { try await file().load() }
        let keyset = try Keyset.make(.aes256GCM)
        try await file().create(keyset)
        await expectError(SecurityError.self, .invalidArgument) { try await file().create(keyset) }
        #expect(try await file().load().cleartextBinary() == keyset.cleartextBinary())
        let changed = try await file().change { keyset throws(SecurityError) in
            try keyset.rotate()
            try keyset.disable(keyset.keys[0].id)
        }
        #expect(changed.keys.map(\.status) == [.disabled, .enabled])
        #expect(try await file().load().cleartextBinary() == changed.cleartextBinary())
        let content = try #require(files.disk["/app/keys.json"])
        let copy = try await Keyset(encrypted: Data(content), under: FixedKeySource())
        #expect(copy.primaryID == changed.primaryID)
    }

    @Test("A second creation of a keyset file asks for no key, which its source might create")
    func secondCreation() async throws {
        let keyset = try Keyset.make(.aes256GCM)
        try await file().create(keyset)
        let other = KeysetFile(at: "/app/keys.json", under: FailingKeySource(), files: files)
        await expectError(SecurityError.self, .invalidArgument) { try await other.create(keyset) }
    }

    @Test("Without a file, no source is asked for a key, which it might create")
    func missingFile() async throws {
        let file = KeysetFile(at: "/app/keys.json", under: FailingKeySource(), files: files)
        await expectError(SecurityError.self, .keyNotFound) { try await file.load() }
        await expectError(SecurityError.self, .keyNotFound) { try await file.ring() }
        await expectError(SecurityError.self, .keyNotFound) {
            try await file.change { keyset throws(SecurityError) in try keyset.rotate() }
        }
        await expectError(SecurityError.self, .keyNotFound) {
            try await file.rewrap(under: FailingKeySource())
        }
    }

    @Test("A failed change or another key leaves the file unchanged")
    func refusals() async throws {
        try await file().create(try Keyset.make(.aes256GCM))
        let before = files.disk
        await expectError(SecurityError.self, .invalidArgument) {
            try await file().change { keyset throws(SecurityError) in
                try keyset.rotate()
                try keyset.destroy(keyset.primaryID)
            }
        }
        await expectError(SecurityError.self, .decryptionFailed) {
            try await file([UInt8](1...32)).change { keyset throws(SecurityError) in
                try keyset.rotate()
            }
        }
        files.fail { if case .write = $0 { FileSystemError.noSpace } else { nil } }
        await expectError(SecurityError.self, .keyStoreFailed) {
            try await file().change { keyset throws(SecurityError) in try keyset.rotate() }
        }
        files.fail(nil)
        #expect(files.disk["/app/keys.json"] == before["/app/keys.json"])
    }

    @Test("A ring saves its rotations without losing those of others")
    func ring() async throws {
        var configuration = KeyRing.Configuration()
        configuration.messageLimit = 4
        configuration.maximumReservation = 2
        let ring = try await file().ring(creating: .aes256GCM, configuration: configuration)
        let sealed = try (0..<10).map { number in
            try ring.encrypt(Data([number]), associatedData: Data())
        }
        let next = try await file().ring()
        #expect(next.keyset.keys.count == 3)
        for (number, data) in sealed.enumerated() {
            #expect(try next.decrypt(data, associatedData: Data()) == Data([UInt8(number)]))
        }
        try await file().change { keyset throws(SecurityError) in try keyset.rotate() }
        for _ in 0..<10 { _ = try ring.encrypt(Data(), associatedData: Data()) }
        #expect(try await file().load().keys.count == 6)
    }

    @Test("A save that fails at its end does not lock out the ring")
    func failedEnd() async throws {
        var configuration = KeyRing.Configuration()
        configuration.maximumReservation = 1
        let ring = try await file().ring(creating: .aes256GCM, configuration: configuration)
        for isWritten in [false, true] {
            files.fail { call in
                switch call {
                case .syncFolder where isWritten: FileSystemError.inputOutput
                case .rename where !isWritten: FileSystemError.inputOutput
                default: nil
                }
            }
            let error = #expect(throws: SecurityError.self) {
                try ring.encrypt(Data(), associatedData: Data())
            }
            #expect(error?.code == .keyStoreFailed)
            files.fail(nil)
            _ = try ring.encrypt(Data(), associatedData: Data())
        }
    }

    @Test("A ring without storage destroys no key, and one without a file only at a certain time")
    func nothingKept() throws {
        var keyset = try Keyset.make(.aes256GCM)
        let old = keyset.primaryID
        let sealed = try SecurityService(keyset: keyset).encrypt(Data([1]))
        try keyset.rotate()
        try keyset.setDates(KeyDates(destroyAfter: .distantPast), of: old)
        let ring = KeyRing(keyset)
        _ = try ring.encrypt(Data(), associatedData: Data())
        #expect(try ring.decrypt(sealed, associatedData: Data()) == Data([1]))
        let now = Mutex(Date(timeIntervalSince1970: 2_000_000_000))
        let saved = Mutex<Keyset?>(nil)
        var configuration = KeyRing.Configuration()
        configuration.save = { keyset in saved.withLock { $0 = keyset } }
        configuration.now = { now.withLock { $0 } }
        let keeping = KeyRing(keyset, configuration: configuration)
        // The clock is years ahead between the first two messages.
        for seconds in [1e8, -1e8, 2_900, 701] {
            now.withLock { $0 += seconds }
            _ = try keeping.encrypt(Data(), associatedData: Data())
            let isDestroyed = keeping.keyset.key(old)?.status == .destroyed
            #expect(isDestroyed == (seconds == 701), "after \(seconds) seconds")
        }
        #expect(saved.withLock { $0 }?.key(old)?.status == .destroyed)
    }

    @Test("A clock that is years ahead for a while destroys no key")
    func leapingClock() async throws {
        let begin = Date(timeIntervalSince1970: 2_000_000_000)
        let day: TimeInterval = 86_400
        var keyset = try Keyset.make(.aes256GCM)
        let old = keyset.primaryID
        let sealed = try SecurityService(keyset: keyset).encrypt(Data([1]))
        try keyset.rotate(at: begin)
        try keyset.setDates(KeyDates(destroyAfter: begin + day), of: old)
        try await file().create(keyset)
        /// Encrypts in a new process, and returns whether the old key remains.
        func keepsKey(after seconds: TimeInterval) async throws -> Bool {
            var configuration = KeyRing.Configuration()
            configuration.now = { begin + seconds }
            let ring = try await file().ring(configuration: configuration)
            _ = try ring.encrypt(Data(), associatedData: Data())
            let isKept = try await file().load().key(old)?.status == .enabled
            let opened = try? ring.decrypt(sealed, associatedData: Data())
            #expect(opened == (isKept ? Data([1]) : nil))
            return isKept
        }
        for seconds in [0, 3_000 * day, 3_000 * day + 60, 7_200, 3_001 * day, 9_000, day + 60] {
            #expect(try await keepsKey(after: seconds), "after \(seconds) seconds")
        }
        #expect(try await !keepsKey(after: day + 3_700))
    }

    @Test("A power failure during a rotation leaves the old or the new keyset")
    func powerFailure() async throws {
        let old = try Keyset.make(.aes256GCM)
        try await file().create(old)
        let start = files.steps.count
        let new = try await file().change { keyset throws(SecurityError) in try keyset.rotate() }
        var random = SeededRandom(seed: 5)
        var found: Set<UInt32> = []
        for count in start...files.steps.count {
            for _ in 0..<8 {
                let disk = files.disk(afterPowerFailureAt: count, using: &random)
                let left = SimulatedFileSystem(disk)
                found.insert(try await file(on: left).load().primaryID)
            }
        }
        #expect(found == [old.primaryID, new.primaryID])
        let disk = files.disk(afterPowerFailureAt: files.steps.count, using: &random)
        #expect(try await file(on: SimulatedFileSystem(disk)).load().primaryID == new.primaryID)
    }
}
#endif
