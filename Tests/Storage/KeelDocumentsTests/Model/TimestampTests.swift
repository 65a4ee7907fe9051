import Foundation
import KeelDocuments
import Testing

@Suite("Timestamps")
struct TimestampTests {
    @Test("The first and the last timestamp have a date")
    func extremes() {
        #expect(Timestamp(microseconds: .min).date < .distantPast)
        #expect(Timestamp(microseconds: .max).date > .distantFuture)
    }

    @Test("A date out of range becomes the nearest timestamp")
    func clamps() {
        #expect(Timestamp(Date(timeIntervalSince1970: -1e13)).microseconds == .min)
        #expect(Timestamp(Date(timeIntervalSince1970: 1e13)).microseconds == .max)
        #expect(Timestamp(Date(timeIntervalSince1970: -.infinity)).microseconds == .min)
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).microseconds == .max)
    }
}
