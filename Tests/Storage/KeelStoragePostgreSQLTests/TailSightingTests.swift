#if PostgreSQL
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Sightings of the tail")
struct TailSightingTests {
    private func sighting(
        at seconds: Int,
        _ sequence: Int64,
        on timeline: Int64 = 1,
        in tables: Int64 = 1
    ) -> TailSightings.Sighting {
        TailSightings.Sighting(
            time: .seconds(seconds),
            sequence: sequence,
            timeline: timeline,
            tables: tables
        )
    }

    @Test("The earliest sighting that is recent enough counts")
    func first() {
        var sightings = TailSightings()
        #expect(sightings.first(since: .seconds(-100)) == nil)
        for number in 1...3 { sightings.insert(sighting(at: number * 10, Int64(number))) }
        #expect(sightings.first(since: .seconds(-100))?.sequence == 1)
        #expect(sightings.first(since: .seconds(10))?.sequence == 1)
        #expect(sightings.first(since: .seconds(11))?.sequence == 2)
        #expect(sightings.first(since: .seconds(31)) == nil)
        // An answer that comes late says nothing new.
        sightings.insert(sighting(at: 29, 9))
        #expect(sightings.first(since: .seconds(21))?.sequence == 3)
    }

    @Test("The primary is asked once in half of the staleness, also while it does not answer")
    func questions() {
        var sightings = TailSightings()
        func isDue(_ seconds: Int) -> Bool {
            sightings.isQuestionDue(at: .seconds(seconds), allowing: .seconds(10))
        }
        #expect(isDue(0))
        sightings.noteQuestion(at: .seconds(0))
        // There is no answer to go on with.
        #expect(isDue(1))
        sightings.insert(sighting(at: 0, 1))
        #expect(!isDue(5))
        #expect(isDue(6))
        sightings.noteQuestion(at: .seconds(6))
        #expect(!isDue(10))
        #expect(isDue(11))
    }

    @Test("A state counts if it has the tail, the timeline and the tables of the primary")
    func reached() {
        let sighting = sighting(at: 0, 10, on: 2, in: 5)
        #expect(sighting.isReached(by: 10, on: 2, in: 5))
        #expect(sighting.isReached(by: 11, on: 3, in: 6))
        #expect(!sighting.isReached(by: 9, on: 2, in: 5))
        // A standby that a promotion has left behind has changes that the new primary lacks.
        #expect(!sighting.isReached(by: 11, on: 1, in: 5))
        // A standby that has not followed the restoration of a dump has changes that the new tables lack.
        #expect(!sighting.isReached(by: 11, on: 2, in: 4))
    }

    @Test("Sightings of a lost primary, or of former tables, do not count once there is a new one")
    func promotion() {
        var sightings = TailSightings()
        sightings.insert(sighting(at: 1, 10))
        sightings.insert(sighting(at: 2, 5, on: 2))
        #expect(sightings.first(since: .zero) == sighting(at: 2, 5, on: 2))
        sightings.insert(sighting(at: 3, 1, on: 2, in: 9))
        #expect(sightings.first(since: .zero) == sighting(at: 3, 1, on: 2, in: 9))
    }

    @Test("A long series of sightings is thinned, and keeps old and new ones")
    func thinning() {
        var sightings = TailSightings()
        for number in 0..<10_000 { sightings.insert(sighting(at: number, Int64(number))) }
        #expect(sightings.first(since: .zero)?.sequence == 0)
        #expect(sightings.first(since: .seconds(9_999))?.sequence == 9_999)
        for age in [10, 20, 50] {
            let since = 9_999 - age
            let found = sightings.first(since: .seconds(since))?.sequence
            #expect(found.map { $0 <= Int64(since + age / 2) } == true)
        }
    }
}
#endif
