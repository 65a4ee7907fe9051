#if Crypto
import Foundation
import KeelCore
import KeelSecurity
import Testing

@Suite("Tampered data is refused")
struct TamperingTests {
    private let place = Data("notes/1".utf8)

    @Test("Any flipped bit", arguments: valueAlgorithms)
    func flippedBits(_ algorithm: KeyAlgorithm) throws {
        let security = SecurityService(keyset: try .make(algorithm))
        for length in [0, 1, 40] {
            let sealed = try security.encrypt(
                Data(repeating: 65, count: length),
                associatedData: place
            )
            for bit in 0..<sealed.count * 8 {
                var changed = sealed
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(Self.refuses(security, changed, place))
            }
        }
    }

    @Test("Any truncation and any addition", arguments: valueAlgorithms)
    func truncation(_ algorithm: KeyAlgorithm) throws {
        let security = SecurityService(keyset: try .make(algorithm))
        let sealed = try security.encrypt(Data("meet at nine".utf8), associatedData: place)
        for length in 0..<sealed.count {
            #expect(Self.refuses(security, sealed.prefix(length), place))
            #expect(Self.refuses(security, sealed.suffix(length), place))
        }
        #expect(Self.refuses(security, sealed + [0], place))
        #expect(Self.refuses(security, [0] + sealed, place))
    }

    @Test("Other associated data and another keyset", arguments: valueAlgorithms)
    func otherPlace(_ algorithm: KeyAlgorithm) throws {
        let security = SecurityService(keyset: try .make(algorithm))
        let sealed = try security.encrypt(Data("meet at nine".utf8), associatedData: place)
        for other in ["", "notes/2", "notes/", "notes/11"] {
            #expect(Self.refuses(security, sealed, Data(other.utf8)))
        }
        #expect(Self.refuses(SecurityService(keyset: try .make(algorithm)), sealed, place))
    }

    @Test("A slice of a larger buffer is decrypted with its own indices")
    func slices() throws {
        let security = SecurityService(keyset: try .make(.aes256GCM))
        let sealed = try security.encrypt(Data([1, 2, 3]))
        let buffer = Data([9, 9, 9]) + sealed + Data([9])
        #expect(try security.decrypt(buffer.dropFirst(3).dropLast()) == Data([1, 2, 3]))
        #expect(try security.decrypt(security.encrypt(buffer[3..<5])) == buffer[3..<5])
    }

    @Test("No error, description or dump reveals a key or plaintext")
    func noSecrets() async throws {
        let secret = [UInt8](repeating: 0x5A, count: 32)
        let keyset = try Keyset.known("AesGcmKey", key: secret)
        let security = SecurityService(keyset: keyset)
        var text = "\(keyset) \(keyset.primary) \(try await FixedKeySource().keyEncryptionKey())"
        dump(keyset, to: &text)
        dump(keyset.primary, to: &text)
        dump(try await FixedKeySource(bytes: secret).keyEncryptionKey(), to: &text)
        dump(security.keys.map { $0 as any ByteSealing }, to: &text)
        do {
            _ = try security.decrypt(Data("hunter2".utf8), associatedData: Data("s3cret".utf8))
        } catch { text += "\(error) \(error.localizedDescription)" }
        do { _ = try Keyset(cleartextJSON: Data("{\"primaryKeyId\":\"hunter2\"}".utf8)) } catch {
            text += "\(error)"
            dump(error, to: &text)
        }
        for trace in ["hunter2", "s3cret", "5a5a", "90, 90", "- 90", "Wlpa", "ZZZZ"] {
            #expect(!text.contains(trace))
        }
    }

    private static func refuses(_ security: SecurityService, _ data: Data, _ place: Data) -> Bool {
        do throws(SecurityError) {
            _ = try security.decrypt(data, associatedData: place)
            return false
        } catch { return error.code == .decryptionFailed }
    }
}
#endif
