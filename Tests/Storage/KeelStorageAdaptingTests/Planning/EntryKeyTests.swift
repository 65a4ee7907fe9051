import KeelStorageAdapting
import KeelTestKit
import Testing

@Suite("Truncated keys of index entries")
struct EntryKeyTests {
    private static func cut(_ value: DocumentValue) -> [UInt8] {
        var key = IndexKey.key(value)
        EntryKey.cutComponent(&key, from: 0)
        return key
    }

    private static func value(_ random: inout SeededRandom) -> DocumentValue {
        let length = Int.random(in: 1_490...1_510, using: &random)
        let text = String(repeating: "x", count: length)
        let end = ["", "a", "b", "\u{0}", "\u{0}\u{0}"].randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .string(text + end)
        case 1: return .bytes([UInt8](repeating: 0, count: length / 2) + Array(end.utf8))
        case 2: return .array([.string(text), .string(end)])
        default: return .map(["k": .string(text), "l": .string(end)])
        }
    }

    @Test("Truncated keys compare like full keys or are equal if both are truncated")
    func order() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed: seed)
        for _ in 0..<2_000 {
            let values = [Self.value(&random), Self.value(&random)]
            let whole = values.map { IndexKey.key($0) }
            let short = values.map(Self.cut)
            let areCut = zip(whole, short).map { $0.count != $1.count }
            if short[0] == short[1] {
                #expect(whole[0] == whole[1] || areCut == [true, true], "seed \(seed): \(values)")
            } else {
                #expect(
                    short[0].lexicographicallyPrecedes(short[1])
                        == whole[0].lexicographicallyPrecedes(whole[1]),
                    "seed \(seed): \(values)"
                )
                // Later parts of an entry cannot change this order.
                #expect(!short[0].starts(with: short[1]) && !short[1].starts(with: short[0]))
            }
        }
    }

    @Test("The longest constant of a condition is not truncated, a longer value is")
    func lengths() {
        let text = String(repeating: "x", count: 1_499)
        #expect(Self.cut(.string(text)) == IndexKey.key(.string(text)))
        #expect(Self.cut(.string(text + "x")).count == EntryKey.longestComponent)
    }

    @Test("An entry with many long components is limited to the maximum length")
    func whole() throws {
        let text = String(repeating: "x", count: 1_600)
        let index = IndexDefinition(
            "a",
            scope: .group,
            [.contains("l"), .ascending("a"), .descending("b")]
        )
        let paths = index.components.map { CompiledFieldPath($0.field) }
        let body = DocumentBody([
            "l": .array([.string(text + "1"), .string(text + "2"), 3]), "a": .string(text), "b": 1,
        ])
        let keys = index.componentKeys(of: body, at: paths)
        #expect(keys.count == 2)
        for key in keys {
            var entry = key
            index.append("a/1", to: &entry)
            #expect(entry.count <= EntryKey.longest)
        }
        #expect(keys.map(\.count).max() == EntryKey.longest)
    }
}
