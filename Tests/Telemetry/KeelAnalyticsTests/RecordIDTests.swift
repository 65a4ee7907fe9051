import Foundation
import KeelTestKit
import Testing

@testable import KeelAnalytics

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
}
