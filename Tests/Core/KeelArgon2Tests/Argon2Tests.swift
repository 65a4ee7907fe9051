import KeelCore
import Testing

@testable import KeelArgon2

@Suite("Argon2 and BLAKE2b")
struct Argon2Tests {
    @Test("BLAKE2b of “abc” matches RFC 7693, and other hashes match their authors' values")
    func blake2b() {
        let abc = Hexadecimal.text(of: BLAKE2b.hash(Array("abc".utf8), count: 64))
        #expect(abc.hasPrefix("ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"))
        #expect(abc.hasSuffix("7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"))
        let empty = Hexadecimal.text(of: BLAKE2b.hash([], count: 32))
        #expect(empty == "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8")
    }

    @Test(
        "Tags match RFC 9106, section 5",
        arguments: [
            (0, "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb"),
            (1, "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8"),
            (2, "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"),
        ]
    )
    func vectors(_ variant: UInt32, _ tag: String) throws {
        let argon2 = Argon2(
            try #require(Argon2.Variant(rawValue: variant)),
            cost: Argon2Cost(memory: 32, passes: 3, lanes: 4),
            count: 32,
            secret: [UInt8](repeating: 3, count: 8),
            associatedData: [UInt8](repeating: 4, count: 12)
        )
        let hash = argon2.hash(
            [UInt8](repeating: 1, count: 32),
            salt: [UInt8](repeating: 2, count: 16)
        )
        #expect(Hexadecimal.text(of: hash) == tag)
    }
}
