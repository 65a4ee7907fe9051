#if Crypto
import Foundation
import KeelSecurity
import Testing

@Suite("Wycheproof", .enabled(if: Wycheproof.isPresent, Wycheproof.absence))
struct WycheproofTests {
    @Test("AES-GCM: the verdict on each vector is right")
    func aesGCM() throws { try judge("aes_gcm_test", "AesGcmKey", field: 3, keySizes: [128, 256]) }

    @Test("ChaCha20-Poly1305: the verdict on each vector is right")
    func chaCha20Poly1305() throws {
        try judge("chacha20_poly1305_test", "ChaCha20Poly1305Key", field: 2, keySizes: [256])
    }

    @Test("HMAC with SHA-256: the verdict on each vector is right")
    func hmac() throws {
        var counts: [String: Int] = [:]
        for group in try Wycheproof.read("hmac_sha256_test").testGroups {
            for vector in group.tests {
                let key = Data(try Wycheproof.bytes(vector.key))
                let tag = Data(try Wycheproof.bytes(vector.tag))
                let message = Data(try Wycheproof.bytes(vector.msg))
                let isValid = try? SecurityService()
                    .isValidAuthenticationCode(tag, for: message, key: key)
                // Short keys and truncated codes are deliberately refused.
                if key.count < 16 || group.tagSize != 256 {
                    counts["unsupported", default: 0] += 1
                    #expect(isValid != true, "\(vector.tcId)")
                } else {
                    counts[vector.result, default: 0] += 1
                    #expect(isValid == (vector.result == "valid"), "\(vector.tcId)")
                }
            }
        }
        print("hmac_sha256_test: \(counts)")
    }

    @Test("Ed25519: the verdict on each vector is right")
    func ed25519() throws {
        var counts: [String: Int] = [:]
        for group in try Wycheproof.read("ed25519_test").testGroups {
            let bytes = try Wycheproof.bytes(group.publicKey?.pk)
            let key = try VerificationKey(rawRepresentation: Data(bytes), .ed25519)
            for vector in group.tests {
                let message = Data(try Wycheproof.bytes(vector.msg))
                let signature = Data(try Wycheproof.bytes(vector.sig))
                counts[vector.result, default: 0] += 1
                let isValid = key.isValid(signature, for: message)
                #expect(isValid == (vector.result == "valid"), "\(vector.tcId)")
            }
        }
        print("ed25519_test: \(counts)")
    }

    @Test("RSA-OAEP with SHA-256: the verdict on each vector is right")
    func rsa() throws {
        var counts: [String: Int] = [:]
        let name = "rsa_oaep_2048_sha256_mgf1sha256_test"
        for group in try Wycheproof.read(name).testGroups {
            let key = try RSAPrivateKey(pemRepresentation: try #require(group.privateKeyPem))
            for vector in group.tests {
                let secret = try? key.unwrap(Data(Wycheproof.bytes(vector.ct)))
                // Labels are not supported, so vectors with labels are refused.
                if vector.label?.isEmpty == false {
                    counts["unsupported", default: 0] += 1
                    #expect(secret == nil, "\(vector.tcId)")
                } else {
                    counts[vector.result, default: 0] += 1
                    let expected = try Data(Wycheproof.bytes(vector.msg))
                    #expect(secret == (vector.result == "valid" ? expected : nil), "\(vector.tcId)")
                }
            }
        }
        print("\(name): \(counts)")
    }

    private func judge(_ name: String, _ type: String, field: UInt8, keySizes: Set<Int>) throws {
        var counts: [String: Int] = [:]
        for group in try Wycheproof.read(name).testGroups {
            for vector in group.tests {
                let key = try Wycheproof.bytes(vector.key)
                let sealed = Data(
                    try Wycheproof.bytes(vector.iv) + Wycheproof.bytes(vector.ct)
                        + Wycheproof.bytes(vector.tag)
                )
                let plain = try? SecurityService(
                    keyset: try Keyset.known(type, key: key, field: field)
                ).decrypt(sealed, associatedData: Data(try Wycheproof.bytes(vector.aad)))
                // Other key lengths and nonces other than 96 bits are refused.
                if group.ivSize != 96 || !keySizes.contains(group.keySize ?? 0) {
                    counts["unsupported", default: 0] += 1
                    #expect(plain == nil, "\(vector.tcId)")
                } else {
                    counts[vector.result, default: 0] += 1
                    let expected = try Data(Wycheproof.bytes(vector.msg))
                    #expect(plain == (vector.result == "valid" ? expected : nil), "\(vector.tcId)")
                }
            }
        }
        print("\(name): \(counts)")
        #expect(counts["valid", default: 0] > 0)
    }
}
#endif
