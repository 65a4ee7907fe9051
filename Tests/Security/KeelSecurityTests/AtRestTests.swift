#if Crypto
import Foundation
import KeelCache
import KeelJournal
import KeelSecurity
import Testing

@Suite("Encryption at rest with a key ring")
struct AtRestTests {
    private static let planted = "the secret of the house"

    @Test("A journal is readable after a rotation and exposes nothing on disk")
    func journal() async throws {
        try await Self.inFolder { folder async throws in
            var keyset = try Keyset.make(.aes256GCM)
            for round in 0..<3 {
                var configuration = JournalConfiguration()
                configuration.sealing = KeyRing(keyset)
                let journal = try Journal(at: folder, configuration: configuration)
                try journal.append(Array("\(Self.planted) \(round)".utf8))
                try keyset.rotate()
            }
            #expect(try !Self.shows(folder))
            var configuration = JournalConfiguration()
            configuration.sealing = KeyRing(keyset)
            let consumer = try Journal(at: folder, configuration: configuration).consumer("a")
            let texts = try consumer.read(upTo: 10).map {
                String(decoding: $0.bytes, as: UTF8.self)
            }
            #expect(texts == (0..<3).map { "\(Self.planted) \($0)" })
        }
    }

    @Test("A journal waits for a disabled key, and gives up the records of a destroyed one")
    func journalWithoutKey() async throws {
        try await Self.inFolder { folder async throws in
            func journal(_ keyset: Keyset) throws -> Journal {
                var configuration = JournalConfiguration()
                configuration.sealing = KeyRing(keyset)
                return try Journal(at: folder, configuration: configuration)
            }
            func texts(_ keyset: Keyset) throws -> [String] {
                let consumer = try journal(keyset).consumer("a")
                return try consumer.read(upTo: 10).map { String(decoding: $0.bytes, as: UTF8.self) }
            }
            let first = try Keyset.make(.aes256GCM)
            try journal(first).append(Array("first".utf8))
            var rotated = first
            try rotated.rotate()
            try journal(rotated).append(Array("second".utf8))
            // A ring that does not know the new key yet.
            let early = #expect(throws: JournalError.self) { _ = try texts(first) }
            #expect(early?.code == .sealingFailed)
            var disabled = rotated
            try disabled.disable(first.primaryID)
            let refusing = disabled
            let error = #expect(throws: JournalError.self) { _ = try texts(refusing) }
            #expect(error?.code == .sealingFailed)
            #expect(try texts(rotated) == ["first", "second"])
            var destroyed = rotated
            try destroyed.destroy(first.primaryID)
            #expect(try texts(destroyed) == ["second"])
        }
    }

    @Test("A cache finds its entries after a rotation and exposes nothing on disk")
    func cache() async throws {
        try await Self.inFolder { folder async throws in
            var keyset = try Keyset.make(.aes256GCM)
            let key = Array("key \(Self.planted)".utf8)
            let value = Array(String(repeating: Self.planted, count: 2000).utf8)
            for round in 0..<3 {
                var configuration = DiskCacheTier.Configuration(byteLimit: 4 << 20)
                configuration.sealing = KeyRing(keyset)
                let tier = try DiskCacheTier(at: folder, configuration: configuration)
                if round == 0 {
                    try await tier.write([
                        CacheRecord(key: key, body: .bytes(value), created: CacheInstant(Date()))
                    ])
                }
                #expect(try await tier.read(key) != nil)
                await tier.close()
                try keyset.rotate()
            }
            #expect(try !Self.shows(folder))
        }
    }

    private static func shows(_ folder: URL) throws -> Bool {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var size = 0
        for case let file as URL in try #require(files) {
            guard let data = try? Data(contentsOf: file) else { continue }
            size += data.count
            if data.range(of: Data(planted.utf8)) != nil { return true }
        }
        try #require(size > 0)
        return false
    }

    private static func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("keel-security-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }
}
#endif
