import KeelCBOR
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("CBOR writer")
struct CBORWriterTests {
    static func written(_ write: (inout CBORWriter) -> Void) -> String {
        var writer = CBORWriter()
        write(&writer)
        return writer.bytes.hex
    }

    @Test(
        "Heads take the fewest bytes on both sides of each boundary",
        arguments: [
            (0, "00"), (23, "17"), (24, "1818"), (255, "18ff"), (256, "190100"), (65535, "19ffff"),
            (65536, "1a00010000"), (0xffff_ffff, "1affffffff"), (1 << 32, "1b0000000100000000"),
            (.max, "1bffffffffffffffff"),
        ] as [(UInt64, String)]
    )
    func heads(_ value: UInt64, _ hex: String) {
        #expect(Self.written { $0.unsigned(value) } == hex)
        if let signed = Int64(exactly: value) {
            #expect(Self.written { $0.integer(signed) } == hex)
        }
    }

    @Test("Signed integers across all of Int64 survive the round trip")
    func integers() throws {
        var random = SeededRandom(seed: 4)
        var values: [Int64] = [.min, .min + 1, .max, 0, -1, -24, -25, -256, -257]
        for _ in 0..<2000 {
            let value = Int64(bitPattern: random.next())
            values.append(value >> Int64.random(in: 0..<64, using: &random))
        }
        for value in values {
            var writer = CBORWriter()
            writer.integer(value)
            var reader = CBORReader(writer.bytes)
            #expect(try reader.readInteger() == value)
            #expect(CBORItem.isDeterministic(writer.bytes))
        }
    }

    @Test("All 65,536 halves keep their bits, and all but NaNs keep their encoding")
    func halves() throws {
        for pattern in UInt16.min...UInt16.max {
            let bytes: [UInt8] = [0xf9, UInt8(pattern >> 8), UInt8(pattern & 0xff)]
            var reader = CBORReader(bytes)
            let value = try reader.readDouble()
            var writer = CBORWriter()
            writer.double(value)
            guard writer.bytes != bytes else { continue }
            #expect(value.isNaN && writer.bytes == [0xf9, 0x7e, 0x00])
        }
    }

    @Test("A double keeps its bits in the shortest width that can hold them")
    func doubles() throws {
        var random = SeededRandom(seed: 5)
        var values: [Double] = [
            0, -0.0, 65504, 65505, 65520, 65536, 0x1p-24, 0x1p-25, 0x1.8p-24, 0x1p-14, 0x1.ffcp-15,
            0x1.ffep-15, 0x1p-126, 0x1p-127, 0x1p-149, 0x1p-150, 0x1.fffffep127, 0x1.ffffffp127,
            0x1p128, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity,
        ]
        for _ in 0..<4000 {
            values.append(Double(bitPattern: random.next()))
            values.append(Double(Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))))
            values.append(Double(Int.random(in: -5000...5000, using: &random)) / 64)
            let fine = UInt64.random(in: 0..<1 << 52, using: &random) & ~0 << 40
            let exponent = UInt64.random(in: 990...1045, using: &random)
            values.append(Double(bitPattern: exponent << 52 | fine))
        }
        for value in values {
            var writer = CBORWriter()
            writer.double(value)
            var reader = CBORReader(writer.bytes)
            let back = try reader.readDouble()
            #expect(reader.isAtEnd)
            guard !value.isNaN else {
                #expect(writer.bytes == [0xf9, 0x7e, 0x00])
                continue
            }
            #expect(back.bitPattern == value.bitPattern)
            #expect(writer.bytes.count == Self.shortestWidth(value))
        }
    }

    /// Returns the number of bytes a float needs, computed from the bits of the significand.
    static func shortestWidth(_ value: Double) -> Int {
        guard value.isFinite, value != 0 else { return 3 }
        let exponent = Int(value.exponent)
        let bits = value.significandWidth
        func fits(_ fraction: Int, _ lowest: Int, _ highest: Int) -> Bool {
            let available = exponent < lowest ? fraction - (lowest - exponent) : fraction
            return exponent <= highest && available >= 0 && bits <= available
        }
        return fits(10, -14, 15) ? 3 : fits(23, -126, 127) ? 5 : 9
    }

    @Test(
        "Text is encoded equally from a string, its bytes and a lazy collection",
        arguments: [
            "", "a", "na\u{ef}ve \u{6c34}\u{10151}", String(repeating: "x", count: 300),
        ]
    )
    func text(_ value: String) throws {
        let hex = Self.written { $0.text(value) }
        #expect(Self.written { $0.text(utf8: Array(value.utf8)) } == hex)
        #expect(Self.written { $0.text(utf8: value.utf8.lazy.map { $0 }) } == hex)
        var reader = CBORReader([UInt8](hex: hex))
        #expect(try reader.readText() == value)
        #expect(reader.isAtEnd)
    }

    @Test("A writer continues after the bytes that it appends to")
    func appends() {
        var writer = CBORWriter(appendingTo: [0xff])
        writer.text("a")
        #expect(writer.bytes.hex == "ff6161")
    }

    @Test("Each call writes an item of its kind")
    func kinds() {
        let hex = Self.written { writer in
            writer.null()
            writer.undefined()
            writer.boolean(true)
            writer.boolean(false)
            writer.simple(255)
            writer.byteString([1, 2])
            writer.mapHeader(30)
            writer.tag(1000)
            writer.negative(.max)
        }
        #expect(hex == "f6f7f5f4f8ff420102b81ed903e83bffffffffffffffff")
    }
}
