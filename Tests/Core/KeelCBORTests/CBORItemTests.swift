import KeelCBOR
import KeelTestSupport
import Testing

@Suite("CBOR items")
struct CBORItemTests {
    @Test(
        "Every row of RFC 8949 appendix A decodes to its diagnostic notation",
        arguments: CBORVector.appendixA
    )
    func reads(_ vector: CBORVector) throws {
        #expect(try CBORItem(decoding: vector.bytes).diagnostic == vector.diagnostic)
    }

    @Test(
        "Every row of appendix A is written unchanged or in its shortest form",
        arguments: CBORVector.appendixA
    )
    func writes(_ vector: CBORVector) throws {
        let item = try CBORItem(decoding: vector.bytes)
        let written = item.encoded()
        #expect((written == vector.bytes) == vector.roundTrips)
        #expect(try CBORItem(decoding: written) == item)
        #expect(CBORItem.isDeterministic(vector.bytes) == vector.roundTrips)
        // The last row's keys are out of order, and a tree preserves their order.
        #expect(CBORItem.isDeterministic(written) == !vector.diagnostic.contains("Fun"))
    }

    @Test(
        "Malformed bytes are rejected by decoding and by skipping",
        arguments: CBORVector.malformed
    )
    func refuses(_ hex: String) {
        let bytes = [UInt8](hex: hex)
        #expect(throws: CBORError.self) { try CBORItem(decoding: bytes) }
        #expect(throws: CBORError.self) {
            var reader = CBORReader(bytes)
            try reader.skip()
        }
        #expect(!CBORItem.isDeterministic(bytes))
    }

    @Test("Every proper prefix of a well-formed item is truncated", arguments: CBORVector.appendixA)
    func truncated(_ vector: CBORVector) {
        for count in 0..<vector.bytes.count {
            let error = #expect(throws: CBORError.self) {
                try CBORItem(decoding: Array(vector.bytes.prefix(count)))
            }
            #expect(error?.kind == .truncated)
        }
    }

    @Test("Bytes after the item are rejected")
    func trailing() {
        let error = #expect(throws: CBORError.self) { try CBORItem(decoding: [0x01, 0x02]) }
        #expect(error == CBORError(.trailingBytes, at: 1))
    }

    @Test(
        "Text that is not UTF-8 is rejected",
        arguments: [
            "61ff", "62c080", "62c328", "63eda080", "63e08080", "64f4908080", "64f0808080", "61c3",
            "7f61c361bcff",
        ]
    )
    func invalidText(_ hex: String) {
        let bytes = [UInt8](hex: hex)
        let error = #expect(throws: CBORError.self) { try CBORItem(decoding: bytes) }
        #expect(error?.kind == .invalidUTF8)
        #expect(!CBORItem.isDeterministic(bytes))
    }

    @Test(
        "Nesting up to the limit is read, and one more level is rejected",
        arguments: [
            [0x81], [0xc1], [0xa1, 0x00], [0x9f], [0xbf, 0x00],
        ] as [[UInt8]]
    )
    func nesting(_ opening: [UInt8]) throws {
        for (levels, fits) in [(CBORReader.nestingLimit, true), (513, false), (100_000, false)] {
            var bytes = Array(repeatElement(opening, count: levels).joined()) + [0x00]
            if opening[0] & 0x1f == 31 { bytes += Array(repeating: 0xff, count: levels) }
            var reader = CBORReader(bytes)
            guard !fits else {
                try reader.skip()
                #expect(reader.isAtEnd)
                _ = try CBORItem(decoding: bytes).diagnostic
                continue
            }
            let skipped = #expect(throws: CBORError.self) { try reader.skip() }
            let decoded = #expect(throws: CBORError.self) { try CBORItem(decoding: bytes) }
            #expect(skipped?.kind == .nestingTooDeep)
            #expect(decoded == skipped)
            #expect(!CBORItem.isDeterministic(bytes))
        }
    }

    @Test("Items are equal if their encodings are equal")
    func equality() {
        #expect(CBORItem.float(.nan) == .float(-.signalingNaN))
        #expect(CBORItem.float(0) != .float(-0.0))
        #expect(CBORItem.simple(20) == .boolean(false))
        #expect(CBORItem.float(1) != .unsigned(1))
        #expect(Set([CBORItem.integer(-1), .negative(0), .integer(0)]).count == 2)
    }

    @Test("Diagnostic notation escapes text and formats floats as ECMAScript does")
    func diagnostic() {
        #expect(CBORItem.text("a\n\u{1}\t\r").diagnostic == #""a\n\u0001\t\r""#)
        #expect(CBORItem.float(1e20).diagnostic == "100000000000000000000.0")
        #expect(CBORItem.float(1e21).diagnostic == "1.0e+21")
        #expect(CBORItem.float(0x1p54).diagnostic == "18014398509481984.0")
        #expect(CBORItem.float(-1e-6).diagnostic == "-0.000001")
        #expect(CBORItem.float(1.25e-7).diagnostic == "1.25e-7")
        #expect(CBORItem.tagged(3, .bytes([])).diagnostic == "-1")
        #expect(CBORItem.tagged(2, .text("x")).diagnostic == "2(\"x\")")
    }
}
