import KeelStorageAdapting
import KeelTestKit
import Testing

@Suite("Past documents of a store")
struct PastTests {
    private static func document(_ number: Int) -> Document { Document.stub("notes/\(number)") }

    @Test("Only slightly more than the first past documents are kept")
    func window() {
        var past = PastDocuments()
        for number in (0..<5_000).reversed() {
            past.take(Self.document(number), at: IndexKey.key(.integer(Int64(number))), within: 3)
        }
        #expect(past.found.count <= 2 * 3 + 1_000)
        let keys = past.found.map(\.key).sorted { $0.lexicographicallyPrecedes($1) }
        #expect(Array(keys.prefix(3)) == (0..<3).map { IndexKey.key(.integer($0)) })
    }

    @Test("All past documents are kept without a limit")
    func everything() {
        var past = PastDocuments()
        for number in 0..<3_000 { past.take(Self.document(number), at: [], within: nil) }
        #expect(past.found.count == 3_000)
    }

    @Test("The history is trimmed on opening and then every sixteenth of its age")
    func pace() {
        let pace = ForgettingPace()
        func time(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }
        let age = Duration.seconds(160)
        #expect(pace.isDue(at: time(1_000), keeping: age))
        #expect(!pace.isDue(at: time(1_009), keeping: age))
        #expect(pace.isDue(at: time(1_010), keeping: age))
        #expect(!pace.isDue(at: time(1_011), keeping: age))
        pace.goOn()
        #expect(pace.isDue(at: time(1_011), keeping: age))
        // Setting the clock back delays it by at most one interval.
        #expect(pace.isDue(at: time(500), keeping: age))
    }
}
