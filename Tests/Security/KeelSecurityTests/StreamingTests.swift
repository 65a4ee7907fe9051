#if Crypto
import KeelTestSupport
import Foundation
import KeelSecurity
import KeelTestKit
import Synchronization
import Testing

@Suite("Streaming encryption")
struct StreamingTests {
    private static let place = Data("file/1".utf8)

    /// Sizes around the ends of the first three segments of 4 KiB.
    static let sizes = [
        0, 1, 100, 4039, 4040, 4041, 8119, 8120, 8121, 12_199, 12_200, 12_201, 50_000,
    ]

    @Test("Encrypted data can be decrypted in chunks of any size", arguments: streamAlgorithms)
    func roundTrip(_ algorithm: KeyAlgorithm) throws {
        let streams = try StreamingEncryption(keyset: .make(algorithm))
        var random = SeededRandom(seed: 21)
        for size in Self.sizes + [3_000_000] where size < 100_000 || algorithm != .aes256GCMHKDF4KB
        {
            let plain = random.data(size)
            for piece in [7, 4096, 70_000] where size / piece < 10_000 {
                let sealed = try Self.encrypted(plain, streams, piece: piece)
                #expect(try Self.decrypted(sealed, streams, piece: piece + 1) == plain)
            }
        }
    }

    @Test("Streaming refuses a keyset for values, and a keyset for streams does not encrypt values")
    func kinds() throws {
        expectError(SecurityError.self, .invalidArgument) {
            try StreamingEncryption(keyset: .make(.aes256GCM))
        }
        let service = SecurityService(keyset: try .make(.aes256GCMHKDF64KB))
        expectError(SecurityError.self, .invalidArgument) { try service.encrypt(Data()) }
        expectError(SecurityError.self, .decryptionFailed) { try service.decrypt(Data(count: 100)) }
    }

    @Test("Any truncation is detected")
    func truncation() throws {
        let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))
        let sealed = try Self.encrypted(Data(count: 9000), streams)
        let ends = Array(stride(from: 0, to: sealed.count, by: 97)) + [4096, 8192, 40, 41, 56]
        for end in ends { #expect(Self.refuses(sealed.prefix(end), streams)) }
        #expect(Self.refuses(sealed + [0], streams))
        #expect(Self.refuses(sealed + sealed.suffix(4096), streams))
    }

    @Test("Any flipped bit is detected")
    func flips() throws {
        let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))
        let sealed = try Self.encrypted(Data(count: 9000), streams)
        var random = SeededRandom(seed: 22)
        let places = Array(0..<60) + (0..<400).map { _ in Int.random(in: 0..<9000, using: &random) }
        for place in places {
            var changed = sealed
            changed[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            #expect(Self.refuses(changed, streams))
        }
    }

    @Test("Swapped, repeated, missing and foreign segments are detected")
    func segments() throws {
        let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))
        let sealed = try Self.encrypted(Data(count: 20_000), streams)
        let other = try Self.encrypted(Data(count: 20_000), streams)
        let part = stride(from: 0, to: sealed.count, by: 4096).map {
            sealed[$0..<min($0 + 4096, sealed.count)]
        }
        #expect(part.count == 5)
        #expect(Self.refuses(part[0] + part[2] + part[1] + part[3] + part[4], streams))
        #expect(Self.refuses(part[0] + part[2] + part[3] + part[4], streams))
        #expect(Self.refuses(part[0] + part[1] + part[1] + part[2] + part[3] + part[4], streams))
        #expect(Self.refuses(part[0] + other[4096..<8192] + sealed[8192...], streams))
        #expect(Self.refuses(sealed.prefix(4096) + other[4096...], streams))
    }

    @Test("Other associated data and another keyset are refused")
    func otherPlace() throws {
        let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))
        let sealed = try Self.encrypted(Data(count: 5000), streams)
        #expect(Self.refuses(sealed, streams, Data("file/2".utf8)))
        #expect(Self.refuses(sealed, try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))))
        #expect(Self.refuses(sealed, try StreamingEncryption(keyset: .make(.aes256GCMHKDF64KB))))
    }

    @Test("After a rotation, also to another segment size, old streams are readable")
    func rotation() throws {
        var keyset = try Keyset.make(.aes256GCMHKDF4KB)
        let old = keyset.primaryID
        var random = SeededRandom(seed: 23)
        let plain = random.data(30_000)
        let sealed = try Self.encrypted(plain, try StreamingEncryption(keyset: keyset))
        try keyset.rotate(to: .aes256GCMHKDF1MB)
        let both = try StreamingEncryption(keyset: keyset)
        #expect(try Self.decrypted(sealed, both) == plain)
        #expect(try Self.decrypted(Self.encrypted(plain, both), both) == plain)
        try keyset.disable(old)
        #expect(Self.refuses(sealed, try StreamingEncryption(keyset: keyset)))
    }

    @Test("The next key becomes primary by its date, and without a current key no stream starts")
    func dates() throws {
        let start = Date(timeIntervalSince1970: 2_000_000_000)
        let time = Mutex(start)
        var keyset = try Keyset.make(.aes256GCMHKDF4KB)
        try keyset.setDates(KeyDates(expires: start + 10), of: keyset.primaryID)
        let first = keyset.primaryID
        let next = try keyset.rotate(
            dates: KeyDates(notBefore: start + 10, expires: start + 20),
            at: start
        )
        let streams = try StreamingEncryption(keyset: keyset) { time.withLock { $0 } }
        let sealed = try Self.encrypted(Data([1]), streams)
        #expect(streams.keyset.primaryID == first)
        time.withLock { $0 += 10 }
        let later = try Self.encrypted(Data([2]), streams)
        #expect(streams.keyset.primaryID == next)
        #expect(try Self.decrypted(sealed, streams) == Data([1]))
        #expect(try Self.decrypted(later, streams) == Data([2]))
        time.withLock { $0 += 10 }
        expectError(SecurityError.self, .keyNotFound) { try streams.encryptor() }
    }

    @Test("Streams follow their keyset file")
    func sharedFile() async throws {
        let file = KeysetFile(
            at: "/app/keys.json",
            under: FixedKeySource(),
            files: SimulatedFileSystem()
        )
        let streams = try StreamingEncryption(
            keys: try await file.ring(creating: .aes256GCMHKDF4KB)
        )
        let sealed = try Self.encrypted(Data([1]), streams)
        let changed = try await file.change { keyset throws(SecurityError) in
            let first = keyset.primaryID
            try keyset.rotate()
            try keyset.destroy(first)
        }
        let later = try Self.encrypted(Data([2]), streams)
        #expect(Self.refuses(sealed, streams))
        #expect(try Self.decrypted(later, StreamingEncryption(keyset: changed)) == Data([2]))
    }

    @Test("A copied encryptor shares its state and reuses no nonce")
    func handedOn() throws {
        let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))
        let encryptor = try streams.encryptor()
        let (first, second) = (Data(count: 5000), Data(repeating: 1, count: 5000))
        var output = try encryptor.update(first)
        let other = encryptor
        output += try other.update(second)
        output += try encryptor.finish()
        var decryptor = streams.decryptor()
        let plain = try decryptor.update(output) + decryptor.finish()
        #expect(plain == first + second)
        expectError(SecurityError.self, .invalidArgument) { try other.finish() }
    }

    @Test("After its end or an error, a stream accepts no more data")
    func ends() throws {
        let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))
        let encryptor = try streams.encryptor()
        var sealed = try encryptor.finish()
        expectError(SecurityError.self, .invalidArgument) { try encryptor.update(Data()) }
        sealed[50] ^= 1
        var decryptor = streams.decryptor()
        _ = try decryptor.update(sealed)
        for _ in 0..<2 {
            expectError(SecurityError.self, .decryptionFailed) { try decryptor.finish() }
        }
    }

    @Test("Any range can be read on its own", arguments: [0, 1, 4040, 4041, 8120, 30_000])
    func seeking(_ size: Int) throws {
        let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))
        var random = SeededRandom(seed: 24)
        let plain = random.data(size)
        let sealed = try Self.encrypted(plain, streams)
        let reader = try streams.seekable(size: sealed.count, associatedData: Self.place) {
            sealed[$0]
        }
        #expect(reader.count == size)
        for _ in 0..<200 {
            let lower = Int.random(in: 0...size, using: &random)
            let upper = Int.random(in: lower...size, using: &random)
            #expect(try reader.read(lower..<upper) == plain[lower..<upper])
        }
        expectError(SecurityError.self, .invalidArgument) { try reader.read(0..<size + 1) }
    }

    @Test("A truncated stream cannot be opened, and a changed segment cannot be read")
    func seekingDamaged() throws {
        let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))
        let sealed = try Self.encrypted(Data(count: 9000), streams)
        for end in Array(stride(from: 0, to: sealed.count, by: 97)) + [4096, 8192] {
            expectError(SecurityError.self, .decryptionFailed) {
                try streams.seekable(size: end, associatedData: Self.place) { sealed[$0] }
            }
        }
        var changed = sealed
        changed[5000] ^= 1
        let bytes = changed
        let reader = try streams.seekable(size: sealed.count, associatedData: Self.place) {
            bytes[$0]
        }
        #expect(try reader.read(0..<4040) == Data(count: 4040))
        expectError(SecurityError.self, .decryptionFailed) { try reader.read(4040..<4041) }
    }

    static func encrypted(
        _ plain: Data,
        _ streams: StreamingEncryption,
        piece: Int = 5000,
        place: Data = place
    ) throws -> Data {
        let encryptor = try streams.encryptor(associatedData: place)
        var output = Data()
        for start in stride(from: 0, to: plain.count, by: piece) {
            try output.append(encryptor.update(plain[start..<min(start + piece, plain.count)]))
        }
        return try output + encryptor.finish()
    }

    static func decrypted(
        _ sealed: Data,
        _ streams: StreamingEncryption,
        piece: Int = 5000,
        place: Data = place
    ) throws -> Data {
        var decryptor = streams.decryptor(associatedData: place)
        var output = Data()
        for start in stride(from: sealed.startIndex, to: sealed.endIndex, by: piece) {
            try output.append(decryptor.update(sealed[start..<min(start + piece, sealed.endIndex)]))
        }
        return try output + decryptor.finish()
    }

    private static func refuses(
        _ sealed: Data,
        _ streams: StreamingEncryption,
        _ place: Data = place
    ) -> Bool {
        do {
            _ = try decrypted(sealed, streams, place: place)
            return false
        } catch { return (error as? SecurityError)?.code == .decryptionFailed }
    }
}
#endif
