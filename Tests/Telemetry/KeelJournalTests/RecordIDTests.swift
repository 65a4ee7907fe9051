import Foundation
import KeelJournal
import KeelTestKit
import Testing

@Suite("Record ids")
struct RecordIDTests {
    @Test("An id's text is that of the UUID with the same bits")
    func text() {
        var random = SeededRandom(seed: 9)
        var words: [(UInt64, UInt64)] = [
            (0, 0), (.max, .max), (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210),
        ]
        words += (0..<500).map { _ in (random.next(), random.next()) }
        for (high, low) in words {
            let id = RecordID(high: high, low: low)
            let expected = [high, low].flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - $0 * 8)) }
            }
            #expect(
                UUID(uuidString: id.text).map { withUnsafeBytes(of: $0.uuid, Array.init) }
                    == expected
            )
            #expect(id.text == id.text.lowercased())
            #expect(RecordID(id.bytes) == id)
        }
    }
    @Test("Ids are version 7 UUIDs that grow, even if the clock goes back")
    func order() {
        var ids = RecordIDs()
        var random = SeededRandom(seed: 5)
        var last = ""
        for time in [5, 5, 5, 6, 0, 7000] as [Int64] {
            for _ in 0..<100 {
                let id = ids.next(at: time, using: &random).text
                #expect(id > last)
                #expect(id.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
                #expect(Array(id)[14] == "7")
                #expect("89ab".contains(Array(id)[19]))
                last = id
            }
        }
        #expect(last.hasPrefix("00000000-1b58-7"))
    }
}
