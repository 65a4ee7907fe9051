import Testing

@testable import KeelCache

@Suite("Key bytes stored next to entries")
struct KeyPrintTests {
    @Test("A key of 16 to 32 bytes is identified by each of its bytes", arguments: 16...32)
    func tellsApart(_ length: Int) {
        var prints = KeyPrints<String>(2)
        defer { prints.deallocate() }
        let bytes = (0..<length).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let key = String(decoding: bytes, as: UTF8.self)
        prints.set(key, at: 1)
        prints.grow(from: 2, to: 5)
        #expect(prints.isPrint(of: String(decoding: bytes, as: UTF8.self), at: 1, key))
        for place in 0..<length {
            var other = bytes
            other[place] ^= 1
            let text = String(decoding: other, as: UTF8.self)
            #expect(!prints.isPrint(of: text, at: 1, key), "byte \(place)")
        }
    }

    @Test("Keys of one repeated letter are distinguished by their length")
    func lengths() {
        let prints = KeyPrints<String>(1)
        defer { prints.deallocate() }
        let keys = (16...32).map { String(repeating: "a", count: $0) }
        for key in keys {
            prints.set(key, at: 0)
            for other in keys { #expect(prints.isPrint(of: other, at: 0, key) == (other == key)) }
        }
    }

    @Test("Shorter keys, longer keys and keys of other types are compared with ==")
    func others() {
        let prints = KeyPrints<String>(1)
        defer { prints.deallocate() }
        for length in [0, 1, 15, 33, 100] {
            let key = String(repeating: "a", count: length)
            prints.set(key, at: 0)
            #expect(!prints.isPrint(of: key, at: 0, key))
        }
        let numbers = KeyPrints<Int>(1)
        numbers.set(1, at: 0)
        #expect(!numbers.isPrint(of: 1, at: 0, 1))
        #expect(numbers.words == nil)
    }
}
