internal import KeelCore
package import KeelDocuments

package struct StoreMoment: Hashable {
    /// The time by which the store ages, in microseconds.
    package let time: Int64
    package let wall: Int64
    /// The last change at that time.
    package let sequence: Int64

    package init(time: Int64, wall: Int64, sequence: Int64) {
        self.time = time
        self.wall = wall
        self.sequence = sequence
    }
}

package protocol MomentTable {
    /// Returns the last moment up to each time.
    func moments(upTo times: [Int64]) throws -> [StoreMoment?]

    /// Reads the moments up to a time, the latest first, until `take` returns false.
    func eachMoment(upTo time: Int64, _ take: (StoreMoment) throws -> Bool) throws

    func record(_ moment: StoreMoment) throws

    func removeMoments(after time: Int64) throws

    func removeMoments(before time: Int64) throws
}

/// The time by which a store decides what is old enough to be removed.
///
/// It follows the wall clock, but takes no step of more than a day at once. Once the clock is right again, such a step
/// is taken back. The table of moments maps these times to the last change at each.
package struct StoreAge {
    /// The longest step, in microseconds.
    package static let longestStep: Int64 = 86_400_000_000

    /// The present, in microseconds.
    package let now: Int64
    private let table: any MomentTable

    /// Reads the present of a store, and records it if enough time has passed.
    ///
    /// The interval between recorded moments is the smaller of ten minutes and a sixty-fourth of the shortest
    /// retention. `wall` is the time that the wall clock shows, `sequence` is the store's last change, and `history` is
    /// the age of its history, nil without one.
    package init(
        _ table: any MomentTable,
        wall: Timestamp,
        sequence: Int64,
        keeping retention: LogRetention,
        history: Duration?
    ) throws {
        self.table = table
        let shortest = min(retention.age, retention.receiptAge, history ?? retention.age)
        let interval = min(600_000_000, shortest.microseconds / 64)
        // Half of the number's range, because a clock may show any time.
        var wall = min(max(wall.microseconds, -1 << 61), 1 << 61)
        guard let last = try table.moments(upTo: [.max])[0] else {
            now = wall
            try table.record(StoreMoment(time: wall, wall: wall, sequence: sequence))
            return
        }
        let passed = wall - last.wall
        switch passed {
        case 0...Self.longestStep:
            now = last.time + passed
            guard passed > 0, passed >= interval else { return }
        case -interval..<0:
            now = last.time
            return
        default:
            if let base = try Self.moment(before: wall, last, within: interval, in: table) {
                wall = max(wall, base.wall)
                now = base.time + (wall - base.wall)
                try table.removeMoments(after: base.time)
            } else {
                now = last.time + (passed > 0 ? Self.longestStep : 1)
            }
        }
        try table.record(StoreMoment(time: now, wall: wall, sequence: sequence))
    }

    /// Returns the moment before the clock jumped, if the clock now continues from there: it was wrong meanwhile, and
    /// is right again.
    private static func moment(
        before wall: Int64,
        _ last: StoreMoment,
        within interval: Int64,
        in table: any MomentTable
    ) throws -> StoreMoment? {
        var found: StoreMoment?
        var next: StoreMoment?
        try table.eachMoment(upTo: last.time) { moment in
            let longest = longestStep + (last.time - moment.time)
            let isNear = (-interval...longest).contains(wall - moment.wall)
            let jumps = next.map { !(0...longestStep).contains($0.wall - moment.wall) } ?? false
            if isNear, jumps { found = moment }
            next = moment
            return found == nil
        }
        return found
    }

    // MARK: Ages

    /// Returns the last change that is at least as old as each age.
    package func sequences(olderThan ages: [Duration]) throws -> [Int64?] {
        try table.moments(upTo: ages.map(time(before:))).map { $0?.sequence }
    }

    /// Returns the last moment that is at least as old as each age, even if each step between moments counts at most a
    /// quarter of the age; nil if there is none.
    package func moments(surelyOlderThan ages: [Duration]) throws -> [StoreMoment?] {
        var found = [StoreMoment?](repeating: nil, count: ages.count)
        // No step is longer than a day, so ages of several days need no addition.
        let long = ages.indices.filter { ages[$0].microseconds / 4 >= Self.longestStep }
        if !long.isEmpty {
            let moments = try table.moments(upTo: long.map { time(before: ages[$0]) })
            for (place, moment) in zip(long, moments) { found[place] = moment }
        }
        var open = ages.indices.filter { ages[$0].microseconds / 4 < Self.longestStep }
            .map { (place: $0, left: ages[$0].microseconds) }
        guard !open.isEmpty else { return found }
        var later = now
        try table.eachMoment(upTo: now) { moment in
            let step = later - moment.time
            later = moment.time
            for index in open.indices.reversed() {
                let place = open[index].place
                open[index].left -= min(step, max(1, ages[place].microseconds / 4))
                guard open[index].left <= 0 else { continue }
                found[place] = moment
                open.remove(at: index)
            }
            return !open.isEmpty
        }
        return found
    }

    package func forget(olderThan age: Duration) throws {
        guard let moment = try table.moments(upTo: [time(before: age)])[0] else { return }
        try table.removeMoments(before: moment.time)
    }

    private func time(before age: Duration) -> Int64 {
        let (time, isOver) = now.subtractingReportingOverflow(age.microseconds)
        return isOver ? .min : time
    }
}
