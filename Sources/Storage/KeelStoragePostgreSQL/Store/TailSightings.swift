#if PostgreSQL

/// The latest answers of a primary about a store's tail, which prove that a standby's state is recent enough.
///
/// Commits have one order: a state with the primary's tail, or a later one, has everything that was committed when the
/// primary was asked. Only times of the adapter's clock are compared.
struct TailSightings {
    struct Sighting: Equatable {
        /// Before the primary was asked.
        let time: Duration
        let sequence: Int64
        let timeline: Int64
        /// The tables of the primary (``StoreTail/tables``): standbys have the same number, later tables a higher one.
        let tables: Int64

        /// Returns whether a state has everything that the primary had.
        ///
        /// A standby that a failover has left behind may have changes that the new primary lacks, but not its timeline.
        /// One that has not yet followed the restoration of a dump may have changes that the new tables lack.
        func isReached(by sequence: Int64, on timeline: Int64, in tables: Int64) -> Bool {
            sequence >= self.sequence && timeline >= self.timeline && tables >= self.tables
        }
    }

    private static let most = 16

    /// The sightings in the order of their times, all of one timeline and of the same tables.
    private var sightings: [Sighting] = []
    /// Whether or not the primary answered.
    private var lastQuestion: Duration?

    /// Returns the first sighting since a time: the one that a standby has most likely reached.
    func first(since time: Duration) -> Sighting? { sightings.first { $0.time >= time } }

    /// Returns whether to ask the primary before a read that allows some staleness.
    ///
    /// Continuing reads ask once in half of their staleness, so that a standby has the other half to follow; without a
    /// recent sighting, each asks.
    func isQuestionDue(at now: Duration, allowing staleness: Duration) -> Bool {
        guard let lastQuestion, first(since: now - staleness) != nil else { return true }
        return lastQuestion < now - staleness / 2
    }

    mutating func noteQuestion(at time: Duration) { lastQuestion = time }

    mutating func insert(_ sighting: Sighting) {
        if let last = sightings.last {
            guard sighting.time >= last.time else { return }
            let isElsewhere = (sighting.timeline, sighting.tables) != (last.timeline, last.tables)
            if isElsewhere { sightings = [] }
        }
        sightings.append(sighting)
        guard sightings.count > Self.most else { return }
        // The first one, the last one and every other one between stay: the older they are, the fewer.
        sightings = sightings.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    }
}
#endif
