#if SQLite
internal import GRDB
internal import KeelStorageAdapting
internal import Synchronization

/// Keeps the change log within its limits, one step per write transaction.
///
/// The log has three parts. After ``StoreState/compacted`` it has every change. Before that, it has only the last
/// change of each document, which may be its removal. Pages of changes contain states, so they are the same without
/// the changes in between, and the cost of catching up depends on the number of changed documents, not of changes. Up
/// to ``StoreState/trimmed`` there is nothing, and cursors expire.
///
/// A document that changes again keeps its former last change until that is dropped. Compaction does not remove it,
/// because finding it would cost every commit a lookup in the old part.
struct LogTrimming {
    /// The largest number of changes that one step drops by walking the log.
    static let mostDropped = 10_000
    /// The largest number of changes that one step compacts, each with a lookup of its document.
    static let mostCompacted = 2_000

    /// Adds the columns that a file without compaction lacks.
    static let additions = """
        ALTER TABLE changes ADD COLUMN total INTEGER;
        ALTER TABLE state ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE state ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE readers ADD COLUMN lifetime INTEGER;
        """

    private let database: Database
    private let retention: SQLiteStorageAdapter.Configuration.Retention
    private let age: StoreAge
    private var state: StoreState

    init(
        _ database: Database,
        _ retention: SQLiteStorageAdapter.Configuration.Retention,
        _ age: StoreAge,
        _ state: StoreState
    ) {
        self.database = database
        self.retention = retention
        self.age = age
        self.state = state
    }

    /// Runs one step, keeping the log after the sequence that readers need.
    ///
    /// - Returns: Whether nothing is left to do.
    mutating func step(keepingAfter held: Int64) throws -> Bool {
        let isCompacted = try compact()
        let isDropped = try drop(keepingAfter: held)
        return isCompacted && isDropped
    }

    // MARK: Sizes

    /// Returns the approximate size of a change in bytes: its row with the id, and for a removal its entry in the
    /// index of removals.
    static func size(of id: String, isRemoval: Bool) -> Int64 {
        let length = Int64(id.utf8.count)
        return isRemoval ? 60 + 2 * length : 40 + length
    }

    private static let rowSize = """
        CASE c.removed WHEN 0 THEN 40 + length(CAST(c.id AS BLOB))
        ELSE 60 + 2 * length(CAST(c.id AS BLOB)) END
        """

    /// Returns the last change beyond the byte limit for keeping every change; nil if the log is within it.
    private func surplus() throws -> Int64? {
        let total = try LogPoint.last(state.sequence, in: database).total
        let most = total - Int64(max(0, retention.bytes))
        guard most > 0 else { return nil }
        let statement = try RawStatement(
            database,
            """
            SELECT seq, coalesce(total, 0) FROM changes
            WHERE seq > ? AND seq <= ? ORDER BY seq DESC LIMIT 1
            """
        )
        // Totals grow with the sequence, so a binary search finds it in as many lookups as a number has bits.
        var (low, high) = (state.compacted, state.sequence)
        var found: Int64?
        while low < high {
            let middle = low + (high - low + 1) / 2
            try statement.bind(1, low)
            try statement.bind(2, middle)
            guard let (sequence, total) = try statement.first({ ($0.integer(0), $0.integer(1)) })
            else {
                low = middle
                continue
            }
            if total <= most {
                found = sequence
                low = middle
            } else {
                high = sequence - 1
            }
        }
        return found
    }

    // MARK: Dropping

    private mutating func drop(keepingAfter held: Int64) throws -> Bool {
        let oldest = try age.sequence(olderThan: retention.horizon, in: database) ?? 0
        let most = Int64(max(0, retention.tombstoneBytes))
        let statement = try RawStatement(
            database,
            """
            SELECT c.seq, \(Self.rowSize) FROM changes c WHERE c.seq > ? AND c.seq <= ?
            ORDER BY c.seq LIMIT \(Self.mostDropped)
            """
        )
        try statement.bind(1, state.trimmed)
        // The last change stays, because the next sequence is derived from it.
        try statement.bind(2, min(held, state.sequence - 1))
        var (last, kept, count) = (state.trimmed, state.kept, 0)
        try statement.each { row in
            let sequence = row.integer(0)
            let isCompacted = sequence <= state.compacted
            guard sequence <= oldest || (isCompacted && kept > most) else { return false }
            if isCompacted { kept -= row.integer(1) }
            (last, count) = (sequence, count + 1)
            return true
        }
        guard last > state.trimmed else { return true }
        (state.trimmed, state.kept) = (last, max(0, kept))
        state.compacted = max(state.compacted, last)
        // The row itself stays, because its mark identifies a cursor at this place.
        for table in ["changes", "removal_times"] {
            let removal = try RawStatement(database, "DELETE FROM \(table) WHERE seq < ?")
            try removal.bind(1, last)
            try removal.run()
        }
        try writeState()
        return count < Self.mostDropped
    }

    // MARK: Compacting

    private mutating func compact() throws -> Bool {
        let oldest = try age.sequence(olderThan: retention.age, in: database) ?? 0
        let end = min(max(oldest, try surplus() ?? 0), state.sequence - 1)
        guard end > state.compacted else { return true }
        var period = try LogPoint.lastMark(upTo: state.compacted, in: database)
            .map(LogPoint.period)
        var superseded: [(sequence: Int64, isRemoval: Bool)] = []
        var count = 0
        let statement = try RawStatement(database, Self.documents)
        try statement.bind(1, state.compacted)
        try statement.bind(2, end)
        try statement.each { row in
            count += 1
            state.compacted = row.integer(0)
            let own = LogPoint.period(of: row.integer(1))
            // The first change of a period stays, because it identifies cursors within the period.
            let isFirst = own != period
            period = own
            if row.integer(4) != 0, !isFirst {
                superseded.append((row.integer(0), row.integer(2) != 0))
            } else {
                state.kept += row.integer(3)
            }
            return true
        }
        let isDone = count < Self.mostCompacted
        if isDone { state.compacted = end }
        let change = try RawStatement(database, "DELETE FROM changes WHERE seq = ?")
        let time = try RawStatement(database, "DELETE FROM removal_times WHERE seq = ?")
        for (sequence, isRemoval) in superseded {
            for statement in isRemoval ? [change, time] : [change] {
                try statement.bind(1, sequence)
                try statement.run()
            }
        }
        try writeState()
        return isDone
    }

    /// Selects the changes of an interval, and whether a later change has superseded each.
    ///
    /// A document has the revision of its last change. A replica may give it an earlier revision again; the older
    /// change with that revision then stays, which is harmless.
    private static let documents = """
        SELECT c.seq, c.mark, c.removed, \(rowSize),
            CASE c.removed WHEN 0 THEN d.rid IS NULL OR d.rev <> c.rev
            ELSE d.rid IS NOT NULL OR EXISTS (
                SELECT 1 FROM changes l
                WHERE l.cid = c.cid AND l.id = c.id AND l.removed = 1 AND l.seq > c.seq
            ) END
        FROM changes c LEFT JOIN documents d ON d.cid = c.cid AND d.id = c.id
        WHERE c.seq > ? AND c.seq <= ? ORDER BY c.seq LIMIT \(mostCompacted)
        """

    private func writeState() throws {
        let statement = try RawStatement(
            database,
            "UPDATE state SET trimmed = ?, compacted = ?, kept = ?"
        )
        try statement.bind(1, state.trimmed)
        try statement.bind(2, state.compacted)
        try statement.bind(3, state.kept)
        try statement.run()
    }
}

/// Decides when to check the change log's length.
final class TrimmingPace: Sendable {
    private static let most = 1_024

    private let changes = Atomic(0)
    /// The number of changes in the current period of marks (``LogPoint``); each opening starts a period.
    private let period = Atomic(TrimmingPace.most)

    /// Whether the next commit starts a period of marks.
    var beginsPeriod: Bool { period.load(ordering: .relaxed) >= Self.most }

    func finished(_ count: Int) {
        let present = beginsPeriod ? 0 : period.load(ordering: .relaxed)
        period.store(present + count, ordering: .relaxed)
    }

    /// Makes trimming due with the next commit.
    func goOn() { changes.store(.max / 2, ordering: .relaxed) }

    /// Returns whether enough changes have accumulated for trimming to be worth its cost.
    func isDue(
        after count: Int,
        keeping retention: SQLiteStorageAdapter.Configuration.Retention
    ) -> Bool {
        guard count > 0 else { return false }
        let total = changes.wrappingAdd(count, ordering: .relaxed).newValue
        // Finding the place costs dozens of lookups in the file.
        guard total >= min(max(1, retention.bytes / 1_024), Self.most) else { return false }
        changes.store(0, ordering: .relaxed)
        return true
    }
}
#endif
