import KeelCBOR
import KeelTestKit
import KeelTestSupport
import Testing

extension CBORItem {
    /// Returns a random tree with items of every kind and arguments of every width.
    static func random(depth: Int, using random: inout SeededRandom) -> CBORItem {
        let argument = random.next() >> UInt64.random(in: 0..<64, using: &random)
        let count = depth == 0 ? 0 : Int.random(in: 0...4, using: &random)
        switch Int.random(in: 0..<(depth == 0 ? 9 : 12), using: &random) {
        case 0: return .unsigned(argument)
        case 1: return .negative(argument)
        case 2: return .bytes((0..<Int(argument % 300)).map { UInt8(truncatingIfNeeded: $0) })
        case 3: return .text(String(repeating: "\u{fc}a", count: Int(argument % 40)))
        case 4: return .simple([0, 19, 32, 255].randomElement(using: &random) ?? 0)
        case 5: return .boolean(argument.isMultiple(of: 2))
        case 6: return .null
        case 7: return .undefined
        case 8: return .float(Double(bitPattern: random.next()))
        case 9: return .tagged(argument, .random(depth: depth - 1, using: &random))
        case 10: return .array((0..<count).map { _ in .random(depth: depth - 1, using: &random) })
        default:
            return .map(
                (0..<count).map { _ in
                    Entry(
                        .random(depth: depth - 1, using: &random),
                        .random(depth: depth - 1, using: &random)
                    )
                }
            )
        }
    }
}

@Suite("CBOR fuzzing")
struct CBORFuzzTests {
    @Test("Random trees survive the round trip")
    func roundTrips() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<3000 {
            let item = CBORItem.random(depth: 4, using: &random)
            let bytes = item.encoded()
            let decoded = try CBORItem(decoding: bytes)
            #expect(decoded.encoded() == bytes)
            #expect(decoded.diagnostic == item.diagnostic)
            var reader = CBORReader(bytes)
            try reader.skip()
            #expect(reader.isAtEnd)
        }
    }

    @Test("Random bytes never trap, and skipping agrees with decoding")
    func randomBytes() {
        var random = SeededRandom(seed: 2)
        var wellFormed = 0
        for _ in 0..<10_000 {
            let count = Int.random(in: 0...24, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if Self.exercise(bytes) { wellFormed += 1 }
        }
        #expect(wellFormed > 100)
    }

    @Test("Valid items with flipped, cut and repeated bytes never trap")
    func mutatedItems() {
        var random = SeededRandom(seed: 3)
        var wellFormed = 0
        for _ in 0..<10_000 {
            var bytes = CBORItem.random(depth: 3, using: &random).encoded()
            bytes.replaceSubrange(min(bytes.count, 400)..., with: [])
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1:
                    bytes[index] =
                        [0x1b, 0x5f, 0x7f, 0x9b, 0x9f, 0xbf, 0xff, 0xf8]
                        .randomElement(using: &random) ?? 0
                case 2: bytes.insert(bytes[index], at: index)
                default: bytes.removeSubrange(max(index, 1)...)
                }
            }
            if Self.exercise(bytes) { wellFormed += 1 }
        }
        #expect(wellFormed > 100)
    }

    /// Reads `bytes` with every method, and returns whether they start with an item.
    static func exercise(_ bytes: [UInt8]) -> Bool {
        var reader = CBORReader(bytes)
        let skipped = Result { () throws(CBORError) in try reader.skip() }
        var treeReader = CBORReader(bytes)
        let tree = Result { () throws(CBORError) in try treeReader.readItem() }
        switch (skipped, tree) {
        case (.success, .success(let item)):
            #expect(reader.position == treeReader.position)
            let written = item.encoded()
            #expect((try? CBORItem(decoding: written))?.encoded() == written)
            let read = Array(bytes[..<reader.position])
            // Deterministic bytes are exactly those that the writer reproduces, except for the order of keys.
            if CBORItem.isDeterministic(read) { #expect(written == read) }
        case (.success, .failure(let error)):
            #expect(error.kind == .invalidUTF8)
        case (.failure, .failure): break
        case (.failure(let error), .success):
            Issue.record("skipping refused what decodes: \(error) in \(bytes.hex)")
        }
        for start in stride(from: 0, to: bytes.count, by: bytes.count / 3 + 1) {
            for (_, read) in CBORReaderTests.reads {
                var cursor = CBORReader(bytes[start...])
                try? read(&cursor)
            }
        }
        return (try? skipped.get()) != nil
    }
}
