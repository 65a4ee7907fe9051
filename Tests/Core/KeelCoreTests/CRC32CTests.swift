import KeelCore
import Testing

@Suite("CRC-32C")
struct CRC32CTests {
    /// The examples of RFC 3720, appendix B.4, and the common check value.
    static let vectors: [([UInt8], UInt32)] = [
        (Array(repeating: 0, count: 32), 0x8A91_36AA),
        (Array(repeating: 0xFF, count: 32), 0x62A8_AB43),
        (Array(0..<32), 0x46DD_794E),
        (Array((0..<32).reversed()), 0x113F_DB5C),
        (Array("123456789".utf8), 0xE306_9283),
        ([], 0),
    ]

    @Test("Checksums match the published examples", arguments: vectors)
    func vector(_ bytes: [UInt8], _ expected: UInt32) {
        #expect(CRC32C.checksum(bytes) == expected)
        var tables = CRC32C()
        bytes.withUnsafeBytes { tables.updateByTables($0) }
        #expect(tables.value == expected)
    }

    @Test("The joined checksums of two parts equal the checksum of the whole")
    func joins() {
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 9) }
        let whole = CRC32C.checksum(bytes)
        for place in [0, 1, 7, 8, 255, 4096, 65_535, 65_536, 69_999, 70_000] {
            let first = CRC32C.checksum(Array(bytes[..<place]))
            let second = CRC32C.checksum(Array(bytes[place...]))
            #expect(CRC32C.joined(first, second, count: bytes.count - place) == whole, "\(place)")
        }
    }

    @Test("Instruction and tables agree for every length, start and division into pieces")
    func agreement() {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        let bytes = (0..<600).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        bytes.withUnsafeBytes { all in
            for start in 0..<9 {
                for end in stride(from: start, through: 600, by: 7) {
                    let part = UnsafeRawBufferPointer(rebasing: all[start..<end])
                    let middle = part.count / 3
                    var one = CRC32C()
                    var other = CRC32C()
                    one.update(part)
                    other.updateByTables(UnsafeRawBufferPointer(rebasing: part[..<middle]))
                    other.update(UnsafeRawBufferPointer(rebasing: part[middle...]))
                    #expect(one.value == other.value)
                }
            }
        }
    }
}
