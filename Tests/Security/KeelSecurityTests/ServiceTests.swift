#if Crypto
import Foundation
import KeelCore
import KeelSecurity
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Security service")
struct ServiceTests {
    private let note = Data("meet at nine".utf8)

    @Test("Encrypted data can be decrypted", arguments: valueAlgorithms)
    func roundTrip(_ algorithm: KeyAlgorithm) throws {
        let security = SecurityService(keyset: try .make(algorithm))
        let sealed = try security.encrypt(note, associatedData: Data("notes/1".utf8))
        #expect(try security.decrypt(sealed, associatedData: Data("notes/1".utf8)) == note)
        #expect(sealed.count == note.count + 33)
        #expect(sealed.range(of: note) == nil)
        #expect(try security.encrypt(note) != security.encrypt(note))
        #expect(try security.decrypt(security.encrypt(Data())) == Data())
    }

    @Test("Without a keyset the service hashes, and encryption reports a missing key")
    func noKeys() throws {
        let security = SecurityService()
        expectError(SecurityError.self, .keyNotFound) { try security.encrypt(note) }
        expectError(SecurityError.self, .keyNotFound) { try security.decrypt(note) }
        #expect(security.hash(Data()).hasPrefix("e3b0c44298fc1c149afbf4c8996fb924"))
    }

    @Test("A hash is lowercase hexadecimal SHA-256 and is verified in either case")
    func hashes() throws {
        let security = SecurityService()
        let hash = security.hash(Data("abc".utf8))
        #expect(hash == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(security.verifyHash(Data("abc".utf8), hash: hash))
        #expect(security.verifyHash(Data("abc".utf8), hash: hash.uppercased()))
        #expect(!security.verifyHash(Data("abd".utf8), hash: hash))
        for text in ["", "ba", String(hash.dropLast()), hash + "0", hash.replacing("b", with: "g")]
        {
            #expect(!security.verifyHash(Data("abc".utf8), hash: text))
        }
    }

    @Test("The hash of chunks of any size equals the hash of the whole")
    func streamingHash() async throws {
        let security = SecurityService()
        var random = SeededRandom(seed: 1)
        let whole = random.data(10_000)
        for size in [1, 63, 64, 65, 4096, 20_000] {
            let pieces = AsyncStream<Data> { stream in
                for start in stride(from: 0, to: whole.count, by: size) {
                    stream.yield(whole[start..<min(start + size, whole.count)])
                }
                stream.finish()
            }
            #expect(try await security.hash(contentsOf: pieces) == security.hash(whole))
        }
    }

    @Test("An error of the chunks is the cause")
    func streamingHashFails() async {
        struct Broken: Error {}
        let pieces = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: Broken()) }
        let error = await expectError(SecurityError.self, .streamFailed) {
            try await SecurityService().hash(contentsOf: pieces)
        }
        #expect(error?.cause is Broken)
    }

    @Test("An HMAC matches RFC 4231 and depends on key and data")
    func authenticationCodes() throws {
        let security = SecurityService()
        let key = Data(repeating: 0x0B, count: 20)
        let text = Data("Hi There".utf8)
        let made = try security.authenticationCode(for: text, key: key)
        #expect(made.prefix(4) == Data([0xB0, 0x34, 0x4C, 0x61]))
        #expect(try security.isValidAuthenticationCode(made, for: text, key: key))
        #expect(try !security.isValidAuthenticationCode(made.dropLast(), for: text, key: key))
        #expect(try !security.isValidAuthenticationCode(made, for: text + [0], key: key))
        expectError(SecurityError.self, .invalidKey) {
            try security.authenticationCode(for: text, key: Data(1...15))
        }
    }

    @Test("Random bytes have the requested length and differ")
    func randomBytes() throws {
        let security = SecurityService()
        for count in [0, 1, 31, 32, 4097] {
            #expect(try security.generateSecureRandomBytes(count: count).count == count)
        }
        let many = try (0..<100).map { _ in try security.generateSecureRandomBytes(count: 16) }
        #expect(Set(many).count == 100)
        expectError(SecurityError.self, .invalidArgument) {
            try security.generateSecureRandomBytes(count: -1)
        }
    }

    @Test("A token is URL-safe and not short")
    func tokens() throws {
        let security = SecurityService()
        for _ in 0..<100 {
            let token = try security.generateToken()
            #expect(token.count == 43)
            #expect(
                token.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
            )
        }
        expectError(SecurityError.self, .invalidArgument) {
            try security.generateToken(byteCount: 15)
        }
    }

    @Test("Each code has advice and a unique name")
    func codes() {
        #expect(Set(SecurityError.Code.known.map(\.name)).count == SecurityError.Code.known.count)
        for code in SecurityError.Code.known {
            let error = SecurityError(code, "something happened")
            #expect(error.recoverySuggestion?.isEmpty == false)
            #expect(error.description == "\(code.name): something happened")
        }
    }
}
#endif
