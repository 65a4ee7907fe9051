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
}
