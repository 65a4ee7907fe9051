import KeelStorageAdapting
import Testing

@Suite("The age of a store")
struct StoreAgeTests {
    /// Moments in memory.
    private final class Moments: MomentTable {
        var all: [StoreMoment] = []

        func moments(upTo times: [Int64]) -> [StoreMoment?] {
            times.map { time in all.last { $0.time <= time } }
        }

        func eachMoment(upTo time: Int64, _ take: (StoreMoment) throws -> Bool) rethrows {
            for moment in all.reversed() where moment.time <= time {
                guard try take(moment) else { return }
            }
        }

        func record(_ moment: StoreMoment) {
            all.removeAll { $0.time == moment.time }
            all.append(moment)
            all.sort { $0.time < $1.time }
        }

        func removeMoments(after time: Int64) { all.removeAll { $0.time > time } }

        func removeMoments(before time: Int64) { all.removeAll { $0.time < time } }
    }

    private static let hour: Int64 = 3_600_000_000
    private static let day = 24 * hour
    private static let start: Int64 = 1_780_000_000_000_000

    private let moments = Moments()

    private func age(_ wall: Int64, _ sequence: Int64 = 0) throws -> StoreAge {
        try StoreAge(
            moments,
            wall: Timestamp(microseconds: wall),
            sequence: sequence,
            keeping: LogRetention(),
            history: nil
        )
    }

    @Test("The age follows a right clock, and moments are ten minutes apart")
    func follows() throws {
        for minute in Int64(0)...60 {
            let wall = Self.start + minute * Self.hour / 60
            #expect(try age(wall, minute).now == wall)
        }
        #expect(moments.all.map(\.sequence) == [0, 10, 20, 30, 40, 50, 60])
    }

    @Test("A step of more than a day counts as a day, until the clock is right again")
    func leaps() throws {
        _ = try age(Self.start, 1)
        let wrong = Self.start + 14 * 365 * Self.day
        #expect(try age(wrong, 2).now == Self.start + Self.day)
        #expect(try age(wrong + Self.hour, 3).now == Self.start + Self.day + Self.hour)
        let right = try age(Self.start + 2 * Self.hour, 4)
        #expect(right.now == Self.start + 2 * Self.hour)
        #expect(moments.all.map(\.sequence) == [1, 4])
        // A clock that goes back to where it never was does not go on from there.
        let back = try age(Self.start - 56 * 365 * Self.day, 5)
        #expect(back.now == right.now + 1)
        #expect(try age(Self.start + 3 * Self.hour, 6).now == Self.start + 3 * Self.hour)
    }

    @Test("A clock that is right again, a little behind where it was, continues from there")
    func continuesBehind() throws {
        _ = try age(Self.start, 1)
        for year in Int64(1)...3 {
            let past = Self.start - year * 365 * Self.day
            #expect(try age(past, 2 * year).now == Self.start + 1)
            let right = try age(Self.start - year * 400_000, 2 * year + 1)
            #expect(right.now == Self.start)
        }
        #expect(moments.all == [StoreMoment(time: Self.start, wall: Self.start, sequence: 7)])
    }

    @Test("The ages of several questions are answered as those of each")
    func batches() throws {
        var wall = Self.start
        for sequence in Int64(0)..<200 {
            wall += [Self.hour, 5 * Self.hour, 30 * Self.day][Int(sequence) % 3]
            _ = try age(wall, sequence)
        }
        let present = try age(wall, 200)
        let ages = [0, 1, 3_600, 86_400, 4 * 86_400, 30 * 86_400, 100 * 86_400].map {
            Duration.seconds($0)
        }
        let together = try present.moments(surelyOlderThan: ages)
        let apart = try ages.map { try present.moments(surelyOlderThan: [$0])[0] }
        #expect(together == apart)
        #expect(try present.moments(surelyOlderThan: []) == [])
        // A pause counts a quarter of a short age.
        let hours = try #require(together[2])
        #expect(present.now - hours.time >= Self.hour)
        #expect(moments.all.count { $0.time > hours.time } >= 3)
    }

    @Test("Moments that no age needs are removed")
    func forgets() throws {
        for hour in Int64(0)..<48 { _ = try age(Self.start + hour * Self.hour, hour) }
        let present = try age(Self.start + 48 * Self.hour, 48)
        try present.forget(olderThan: .seconds(10 * 3_600))
        #expect(moments.all.map(\.sequence) == Array(38...48))
        #expect(try present.sequences(olderThan: [.seconds(10 * 3_600)]) == [38])
        #expect(try present.sequences(olderThan: [.seconds(11 * 3_600)]) == [nil])
    }

    @Test("Readers need the log up to the horizon and their lifetime")
    func readers() throws {
        for day in Int64(0)..<40 { _ = try age(Self.start + day * Self.day, day) }
        let present = try age(Self.start + 40 * Self.day, 40)
        func reader(
            _ name: String,
            at sequence: Int64,
            seen day: Int64,
            _ lifetime: Int
        ) -> StoredReader {
            StoredReader(
                name: name,
                sequence: sequence,
                seen: Self.start + day * Self.day,
                lifetime: .seconds(lifetime * 86_400)
            )
        }
        let readers = [
            reader("away", at: 1, seen: 20, 10), reader("here", at: 30, seen: 39, 7),
            reader("stalled", at: 2, seen: 40, 20),
        ]
        let need = try ReaderNeed(of: readers, at: present, horizon: .seconds(10 * 86_400))
        #expect(need.gone == ["away"])
        #expect(need.lifetime == .seconds(20 * 86_400))
        #expect(need.after == 10)
        #expect(try ReaderNeed(of: [], at: present, horizon: .zero).after == .max)
    }
}
