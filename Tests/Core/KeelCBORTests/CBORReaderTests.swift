import KeelCBOR
import KeelTestKit
import Testing

@Suite("CBOR reader")
struct CBORReaderTests {
    /// Every method of the reader that may refuse an item.
    static let reads: [(CBORKind, @Sendable (inout CBORReader) throws(CBORError) -> Void)] = [
        (.unsigned, { reader throws(CBORError) in _ = try reader.readInteger() }),
        (.unsigned, { reader throws(CBORError) in _ = try reader.readUnsigned() }),
        (.negative, { reader throws(CBORError) in _ = try reader.readNegative() }),
        (.float, { reader throws(CBORError) in _ = try reader.readDouble() }),
        (.boolean, { reader throws(CBORError) in _ = try reader.readBoolean() }),
        (.null, { reader throws(CBORError) in try reader.readNull() }),
        (.simple, { reader throws(CBORError) in _ = try reader.readSimple() }),
        (.text, { reader throws(CBORError) in _ = try reader.readText() }),
        (.text, { reader throws(CBORError) in _ = try reader.readTextRange() }),
        (.bytes, { reader throws(CBORError) in _ = try reader.readByteString() }),
        (.bytes, { reader throws(CBORError) in _ = try reader.readByteStringRange() }),
        (.array, { reader throws(CBORError) in _ = try reader.readArrayHeader() }),
        (.map, { reader throws(CBORError) in _ = try reader.readMapHeader() }),
        (.tag, { reader throws(CBORError) in _ = try reader.readTag() }),
    ]

    @Test("A read that throws keeps the position, whatever the first byte")
    func failedReadStays() {
        for first in UInt8.min...UInt8.max {
            for rest: [UInt8] in [
                [], [0xff], Array(repeating: 0xff, count: 9), [0x20, 0x61, 0xff],
            ] {
                for (expected, read) in Self.reads {
                    var reader = CBORReader([0x00, first] + rest)
                    reader.position = 1
                    do throws(CBORError) {
                        try read(&reader)
                        #expect(reader.position > 1)
                    } catch {
                        #expect(reader.position == 1)
                        if case .unexpected(let wanted, let found) = error.kind {
                            #expect(wanted == expected)
                            #expect(found == CBORKind(initialByte: first))
                        }
                    }
                }
            }
        }
    }

    @Test(
        "An item is read by the call for its kind and rejected by the others",
        arguments: CBORVector.appendixA
    )
    func kinds(_ vector: CBORVector) throws {
        let kind = try CBORReader(vector.bytes).peekKind()
        let expected: CBORKind = kind == .undefined ? .simple : kind
        for (wanted, read) in Self.reads {
            var reader = CBORReader(vector.bytes)
            do throws(CBORError) {
                try read(&reader)
                #expect(reader.position > 0)
            } catch {
                let isRange = error.kind == .unsupported && !vector.roundTrips
                let isWide = error.kind == .integerOverflow && wanted == .unsigned
                let isOther = error.kind == .unexpected(expected: wanted, found: kind)
                #expect(isRange || isWide || (isOther && (wanted != expected)))
            }
        }
    }

    @Test("Integers beyond Int64 overflow instead of wrapping")
    func overflow() throws {
        for hex in ["1b8000000000000000", "1bffffffffffffffff", "3b8000000000000000"] {
            var reader = CBORReader([UInt8](hex: hex))
            let error = #expect(throws: CBORError.self) { try reader.readInteger() }
            #expect(error == CBORError(.integerOverflow, at: 0))
        }
        var lowest = CBORReader([UInt8](hex: "3b7fffffffffffffff"))
        #expect(try lowest.readInteger() == .min)
        var highest = CBORReader([UInt8](hex: "1b7fffffffffffffff"))
        #expect(try highest.readInteger() == .max)
    }

    @Test(
        "Counts that the bytes cannot hold are rejected before memory is reserved",
        arguments: [
            "9bffffffffffffffff", "9b7fffffffffffffff00", "bbffffffffffffffff", "9a7fffffff00",
            "8200",
            "bb7fffffffffffffff0000", "a20000", "a20000 00", "5bffffffffffffffff",
            "7b7fffffffffffffff",
        ]
    )
    func counts(_ hex: String) {
        for (_, read) in Self.reads {
            var reader = CBORReader([UInt8](hex: hex))
            let error = #expect(throws: CBORError.self) { try read(&reader) }
            if case .unexpected = error?.kind { continue }
            #expect(error?.kind == .truncated)
        }
    }

    @Test("Containers of indefinite length have no count and end at their break")
    func indefinite() throws {
        var reader = CBORReader([UInt8](hex: "bf 6161 9f 01 ff ff"))
        #expect(try reader.readMapHeader() == nil)
        let endsAtOnce = reader.readBreakIfPresent()
        #expect(!endsAtOnce)
        #expect(try reader.readText() == "a")
        #expect(try reader.readArrayHeader() == nil)
        #expect(try reader.readInteger() == 1)
        let ends = [reader.readBreakIfPresent(), reader.readBreakIfPresent()]
        #expect(ends == [true, true])
        try reader.finish()
    }

    @Test("Chunked strings are joined and have no range")
    func chunks() throws {
        var text = CBORReader([UInt8](hex: "7f 62c3bc 60 6161 ff"))
        #expect(throws: CBORError(.unsupported, at: 0)) { try text.readTextRange() }
        #expect(try text.readText() == "\u{fc}a")
        #expect(text.isAtEnd)
        var bytes = CBORReader([UInt8](hex: "5f 4101 420203 ff"))
        #expect(try bytes.readByteString() == [1, 2, 3])
        #expect(bytes.isAtEnd)
    }

    @Test("A slice is read with its own indices and never beyond its end")
    func slices() throws {
        let bytes = [UInt8](hex: "ffff 82 6161 02 ffff")
        var reader = CBORReader(bytes[2..<6])
        #expect(try reader.readItemRange() == 2..<6)
        reader.position = 3
        #expect(reader.textEquals(try reader.readTextRange(), "a".utf8))
        #expect(try reader.readInteger() == 2)
        #expect(throws: CBORError(.truncated, at: 6)) { try reader.peekKind() }
        var cut = CBORReader(bytes[2..<5])
        #expect(throws: CBORError.self) { try cut.skip() }
    }

    @Test(
        "A text equals the UTF-8 of its key and of no other",
        arguments: [0, 1, 7, 8, 9, 15, 16, 40]
    )
    func textEquality(_ count: Int) throws {
        let key = String(repeating: "k", count: count)
        var writer = CBORWriter()
        writer.text(key)
        var reader = CBORReader(writer.bytes)
        let range = try reader.readTextRange()
        #expect(reader.text(in: range) == key)
        #expect(reader.textEquals(range, key.utf8))
        #expect(reader.textEquals(range, key.utf8.lazy.map { $0 }))
        #expect(!reader.textEquals(range, (key + "k").utf8))
        for index in 0..<count {
            var other = Array(key.utf8)
            other[index] = 0x6c
            #expect(!reader.textEquals(range, other))
        }
    }

    @Test("UTF-8 validation agrees with the standard library")
    func validation() throws {
        var random = SeededRandom(seed: 8949)
        let seeds = [
            "plain ascii that is long", "na\u{ef}ve \u{6c34}\u{10151}\u{ff}\u{d7ff}\u{e000}",
        ]
        for _ in 0..<4000 {
            var utf8 = Array(seeds[Int.random(in: 0...1, using: &random)].utf8)
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                utf8[Int.random(in: utf8.indices, using: &random)] = .random(
                    in: 0...255,
                    using: &random
                )
            }
            utf8.removeLast(Int.random(in: 0...4, using: &random))
            var writer = CBORWriter()
            writer.text(utf8: utf8)
            var reader = CBORReader(writer.bytes)
            let expected = String(validating: utf8, as: UTF8.self)
            let range = try? reader.readTextRange()
            #expect((range != nil) == (expected != nil))
            reader.position = 0
            #expect((try? reader.readText()) == expected)
        }
    }

    @Test("An error describes kinds and offset, and shows no content")
    func description() {
        var reader = CBORReader([0x61, 0x61])
        let error = #expect(throws: CBORError.self) { try reader.readInteger() }
        #expect(error?.description == "CBOR: expected unsigned, found text at offset 0")
    }
}
