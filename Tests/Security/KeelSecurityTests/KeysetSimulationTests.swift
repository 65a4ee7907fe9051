#if Crypto
import Foundation
import KeelCore
import KeelSecurity
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// A simulation of rings, streams and a terminal that share one keyset file.
@Suite("Keysets with two parties, simulated")
struct KeysetSimulationTests {
    @Test(
        "Messages are encrypted and counted while keys are rotated, disabled, destroyed and rewrapped",
        arguments: 1...TestLength.count(10, thorough: 40)
    )
    func simulation(_ seed: Int) async throws {
        var world = try await KeysetWorld(seed: UInt64(seed))
        for _ in 0..<300 { try await world.step() }
        try await world.check()
        #expect(world.messages.count > 100, "seed \(seed)")
    }

    @Test(
        "Streams are encrypted while their keys are rotated, disabled, destroyed and rewrapped",
        arguments: 1...TestLength.count(4, thorough: 15)
    )
    func streams(_ seed: Int) async throws {
        var world = try await KeysetWorld(seed: UInt64(seed), .aes256GCMHKDF4KB)
        for _ in 0..<300 { try await world.step() }
        try await world.check()
        #expect(world.messages.count > 100, "seed \(seed)")
    }
}

/// A keyset file with its users and their ciphertexts.
private struct KeysetWorld {
    private static let keys = (0..<3).map {
        FixedKeySource(bytes: [UInt8](repeating: $0, count: 32))
    }

    private let files = SimulatedFileSystem()
    private let algorithm: KeyAlgorithm
    private var random: SeededRandom
    private let time = TimeBox()
    private var rings: [KeyRing] = []
    /// The index of the key that the file is under.
    private var under = 0
    /// The plaintext and ciphertext of each message or stream.
    var messages: [(plain: Data, sealed: Data)] = []
    private var counts: [UInt32: UInt64] = [:]

    init(seed: UInt64, _ algorithm: KeyAlgorithm = .aes256GCM) async throws {
        self.algorithm = algorithm
        random = SeededRandom(seed: seed)
        try await terminal.create(try Keyset.make(algorithm))
        for _ in 0..<3 { rings.append(try await newRing()) }
    }

    /// The file as `keel keyset` opens it: under the current key.
    private var terminal: KeysetFile {
        KeysetFile(at: "/k/keys.json", under: Self.keys[under], files: files)
    }

    private func newRing() async throws -> KeyRing {
        var configuration = KeyRing.Configuration()
        configuration.messageLimit = 60
        configuration.maximumReservation = 9
        let time = time
        configuration.now = { time.now }
        return try await KeysetFile(
            at: "/k/keys.json",
            under: Self.keys[0],
            alternatives: Array(Self.keys.dropFirst()),
            files: files
        ).ring(configuration: configuration)
    }

    mutating func step() async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<60: algorithm.isStreaming ? try await encryptStream() : try await encrypt()
        case 60..<75: try await decrypt()
        case 75..<79: rings[place(rings)] = try await newRing()
        case 79..<82: try await failToSave()
        case 82..<85: time.advance(by: 50)
        case 85..<88: try await rewrap()
        default: try await change()
        }
    }

    private mutating func place(_ elements: [some Any]) -> Int {
        Int.random(in: 0..<elements.count, using: &random)
    }

    // MARK: Messages

    private mutating func encrypt() async throws {
        let plain = Data("message \(messages.count)".utf8)
        let sealed = try rings[place(rings)].encrypt(plain, associatedData: Data())
        let id = sealed.dropFirst().prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        counts[id, default: 0] += 1
        messages.append((plain, sealed))
        // A program that starts now must find the key.
        let kept = try await terminal.load()
        let key = try #require(kept.key(id), "encrypted with a key that nobody keeps")
        #expect(key.status == .enabled)
        #expect(key.usage >= counts[id, default: 0])
        #expect(counts[id, default: 0] <= 60)
    }

    private mutating func encryptStream() async throws {
        let plain = Data(repeating: UInt8(messages.count % 251), count: place(Array(0..<9000)))
        let encryptor = try StreamingEncryption(keys: rings[place(rings)]).encryptor()
        var sealed = try encryptor.update(plain.prefix(plain.count / 2))
        sealed += try encryptor.update(plain.dropFirst(plain.count / 2))
        sealed += try encryptor.finish()
        messages.append((plain, sealed))
        // A program that starts now must find exactly the enabled keys.
        #expect(read(sealed, with: KeyRing(try await terminal.load())) == plain)
    }

    /// Returns the plaintext of a message or stream, or nil if the ring has no enabled key for it.
    private func read(_ sealed: Data, with ring: KeyRing) -> Data? {
        guard algorithm.isStreaming else {
            return try? ring.decrypt(sealed, associatedData: Data())
        }
        guard var decryptor = try? StreamingEncryption(keys: ring).decryptor(),
            let start = try? decryptor.update(sealed), let end = try? decryptor.finish()
        else { return nil }
        return start + end
    }

    private mutating func decrypt() async throws {
        guard !messages.isEmpty else { return }
        let message = messages[place(messages)]
        let expected = read(message.sealed, with: KeyRing(try await terminal.load()))
        #expect(read(message.sealed, with: rings[place(rings)]) == expected)
        if let expected { #expect(expected == message.plain) }
    }

    /// Fails disk writes: a message may be refused, but nothing else changes.
    private mutating func failToSave() async throws {
        files.fail { call in
            switch call {
            case .rename, .syncFolder, .write: FileSystemError.inputOutput
            default: nil
            }
        }
        defer { files.fail(nil) }
        let ring = rings[place(rings)]
        do throws(SecurityError) {
            if algorithm.isStreaming {
                _ = try StreamingEncryption(keys: ring).encryptor()
            } else {
                _ = try ring.encrypt(Data(), associatedData: Data())
            }
        } catch {
            #expect(error.code == .keyStoreFailed)
        }
    }

    // MARK: Terminal commands

    private mutating func rewrap() async throws {
        let next = place(Self.keys)
        try await terminal.rewrap(under: Self.keys[next])
        under = next
    }

    private mutating func change() async throws {
        let choice = Int.random(in: 0..<5, using: &random)
        let number = Int.random(in: 0..<1000, using: &random)
        let now = time.now
        try await terminal.change { keyset throws(SecurityError) in
            let others = keyset.keys.filter { $0.id != keyset.primaryID && $0.status != .destroyed }
            let other = others.isEmpty ? nil : others[number % others.count].id
            switch (choice, other) {
            case (0, _): try keyset.rotate(at: now)
            case (1, let other?): try keyset.disable(other)
            case (2, let other?): try keyset.enable(other)
            case (3, let other?): try keyset.destroy(other)
            case (4, _):
                // The next key becomes primary later, and the current one is destroyed some time after that.
                try keyset.setDates(
                    KeyDates(destroyAfter: now.addingTimeInterval(200)),
                    of: keyset.primaryID
                )
                try keyset.rotate(dates: KeyDates(notBefore: now.addingTimeInterval(100)), at: now)
            default: break
            }
        }
    }

    /// Checks that no count was lost, and that every message with an existing key can be decrypted.
    func check() async throws {
        let kept = try await terminal.load()
        for (id, count) in counts {
            let key = try #require(kept.key(id))
            if key.status != .destroyed { #expect(key.usage >= count) }
        }
        let fresh = try await newRing()
        if algorithm.isStreaming {
            let expected = KeyRing(kept)
            for message in messages {
                #expect(read(message.sealed, with: fresh) == read(message.sealed, with: expected))
            }
            return
        }
        for message in messages {
            let id = message.sealed.dropFirst().prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard kept.key(id)?.status == .enabled else { continue }
            #expect(try fresh.decrypt(message.sealed, associatedData: Data()) == message.plain)
        }
    }
}

/// A clock that is set manually.
private final class TimeBox: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 2_000_000_000))

    var now: Date { time.withLock { $0 } }

    func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}
#endif
