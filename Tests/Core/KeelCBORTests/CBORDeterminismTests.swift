import KeelCBOR
import KeelTestSupport
import Testing

@Suite("Deterministic CBOR")
struct CBORDeterminismTests {
    @Test(
        "Longer heads, longer floats and indefinite lengths are not deterministic",
        arguments: [
            "1800", "1817", "190018", "1900ff", "1a0000ffff", "1b00000000ffffffff", "3800", "5800",
            "7800", "580100", "780161", "9800", "b800", "d80000", "d90001 00", "fa3f800000",
            "fb3ff0000000000000", "fb7ff8000000000000", "f97e01", "f9fe00", "f97d00",
            "fb36a0000000000000",
            "9fff", "bfff", "5fff", "7fff", "81 1800", "a1 1800 00", "a1 00 1800", "c1 fa3f800000",
        ]
    )
    func longForms(_ hex: String) {
        let bytes = [UInt8](hex: hex)
        #expect(throws: Never.self) { try CBORItem(decoding: bytes) }
        #expect(!CBORItem.isDeterministic(bytes))
    }

    @Test("Keys of the example in section 4.2.1 are deterministic only in its order")
    func keyOrder() throws {
        // 10, 100, -1, "z", "aa", [100], [-1], false
        let keys = ["0a", "1864", "20", "617a", "626161", "811864", "8120", "f4"]
        let rows = keys.map { $0 + "00" }
        #expect(CBORItem.isDeterministic([UInt8](hex: "a8" + rows.joined())))
        for index in rows.indices.dropLast() {
            var swapped = rows
            swapped.swapAt(index, index + 1)
            #expect(!CBORItem.isDeterministic([UInt8](hex: "a8" + swapped.joined())))
            var repeated = rows
            repeated[index + 1] = repeated[index]
            #expect(!CBORItem.isDeterministic([UInt8](hex: "a8" + repeated.joined())))
        }
    }

    @Test("Text keys in the writer's order make a deterministic map")
    func textKeys() {
        let keys = ["b", "aa", "", "a", "\u{fc}", "z", String(repeating: "a", count: 30), "ab"]
        var writer = CBORWriter()
        writer.mapHeader(keys.count)
        for key in keys.sorted(by: CBORWriter.textKey(_:precedes:)) {
            writer.text(key)
            writer.null()
        }
        #expect(CBORItem.isDeterministic(writer.bytes))
        #expect(!CBORWriter.textKey("a", precedes: "a"))
    }
}
