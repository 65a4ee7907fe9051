#if SQLite
internal import GRDB
internal import KeelStorage

/// A place in the change log: a sequence, and the mark of the commit that wrote its change.
///
/// A sequence alone does not name a change. A file that was put back to an earlier state gives the same
/// sequences to other changes in time; their marks are others, because each commit draws its own.
///
/// A mark below zero has a *period* in its upper half: a random number that commits share until an
/// adapter is opened, or there are some thousand changes of it. The first change of a period stays in the log as long as
/// anything of the period does, and so does the last one of each document: a place whose change has
/// been superseded and removed is recognised by its period.
struct LogPoint: Hashable {
    var sequence: Int64
    /// Zero before the first change, and for changes that were written without marks.
    var mark: Int64

    /// The place of a sequence; nil if the log has no such change.
    init?(_ sequence: Int64, in database: Database) throws {
        self.sequence = sequence
        // All columns, because a file of an earlier version that is only read has no marks.
        let statement = try RawStatement(database, "SELECT * FROM changes WHERE seq = ?")
        try statement.bind(1, sequence)
        guard let mark = try statement.first(Self.mark) ?? (sequence == 0 ? 0 : nil) else {
            return nil
        }
        self.mark = mark
    }

    init(_ sequence: Int64, mark: Int64) {
        self.sequence = sequence
        self.mark = mark
    }

    /// The place of a sequence, also of one that the log does not have any more.
    ///
    /// It has the period of the change before, and expires where there is none.
    static func at(_ sequence: Int64, in database: Database) throws -> LogPoint {
        if let point = try LogPoint(sequence, in: database) { return point }
        let period = try Self.period(at: sequence, in: database)
        // Not below the mark that the change itself had: positions do not go back.
        return LogPoint(sequence, mark: period.map { $0 << 32 | 0xFFFF_FFFF } ?? 0)
    }

    /// The log's last change, and how many bytes the log has taken up to there.
    static func last(
        _ sequence: Int64,
        in database: Database
    ) throws -> (point: LogPoint, total: Int64) {
        let statement = try RawStatement(database, "SELECT mark, total FROM changes WHERE seq = ?")
        try statement.bind(1, sequence)
        return try statement.first { (LogPoint(sequence, mark: $0.integer(0)), $0.integer(1)) }
            ?? (LogPoint(sequence, mark: 0), 0)
    }

    // MARK: Periods

    /// A period that no commit has been in.
    static func newPeriod() -> Int64 { Int64(Int32.random(in: .min ... -1)) }

    /// The mark of a commit.
    static func newMark(in period: Int64) -> Int64 {
        period << 32 | Int64(UInt32.random(in: 0...UInt32.max - 1))
    }

    /// The period of a mark; zero for those of an earlier version.
    static func period(of mark: Int64) -> Int64 { mark < 0 ? mark >> 32 : 0 }

    /// The period of the last change up to a sequence.
    static func period(at sequence: Int64, in database: Database) throws -> Int64? {
        let statement = try RawStatement(
            database,
            "SELECT * FROM changes WHERE seq <= ? ORDER BY seq DESC LIMIT 1"
        )
        try statement.bind(1, sequence)
        return try statement.first(Self.mark).map { Self.period(of: $0) }
    }

    /// The mark in a row with all columns of `changes`.
    static func mark(_ row: RawStatement) -> Int64 {
        row.columnCount > 5 ? row.integer(5) : 0
    }

    static let addColumn = "ALTER TABLE changes ADD COLUMN mark INTEGER"
}

/// What the bytes of a cursor mean: the store's epoch, then a place.
///
/// Cursors of one store compare like the places, because a copy comes before the log and numbers
/// are written with their highest byte first.
struct ChangePosition {
    enum Place {
        /// A copy of all documents: those up to a row are there, the log goes on from `start`.
        case copy(start: LogPoint, row: Int64)
        /// A copy of some collections: those before a collection are there, and of that one the
        /// documents up to an identifier.
        case scopedCopy(start: LogPoint, collection: Int64, id: String)
        /// The log up to a change.
        case log(LogPoint)

        /// Where the log goes on.
        var point: LogPoint {
            switch self {
            case .copy(let start, _), .scopedCopy(let start, _, _), .log(let start): start
            }
        }
    }

    let epoch: UInt64
    let place: Place

    init(epoch: UInt64, _ place: Place) {
        self.epoch = epoch
        self.place = place
    }

    // The kinds 0 and 1 were those of cursors without marks.
    private static let copyKind: UInt8 = 2
    private static let logKind: UInt8 = 3

    init?(_ cursor: ChangeCursor) {
        let bytes = cursor.bytes
        guard bytes.count >= 25 else { return nil }
        epoch = UInt64(bitPattern: Self.number(bytes[..<8]))
        let start = LogPoint(Self.number(bytes[9..<17]), mark: Self.number(bytes[17..<25]))
        switch (bytes[8], bytes.count) {
        case (Self.copyKind, 33):
            place = .copy(start: start, row: Self.number(bytes[25...]))
        case (Self.copyKind, 34...):
            // An identifier has a byte at least, so that the length tells both copies apart.
            place = .scopedCopy(
                start: start,
                collection: Self.number(bytes[25..<33]),
                id: String(decoding: bytes[33...], as: UTF8.self)
            )
        case (Self.logKind, 25): place = .log(start)
        default: return nil
        }
    }

    var cursor: ChangeCursor {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(33)
        Self.append(Int64(bitPattern: epoch), to: &bytes)
        if case .log = place { bytes.append(Self.logKind) } else { bytes.append(Self.copyKind) }
        Self.append(place.point.sequence, to: &bytes)
        Self.append(place.point.mark, to: &bytes)
        switch place {
        case .copy(_, let row): Self.append(row, to: &bytes)
        case .scopedCopy(_, let collection, let id):
            Self.append(collection, to: &bytes)
            bytes += id.utf8
        case .log: break
        }
        return ChangeCursor(bytes: bytes)
    }

    /// Where a cursor stands in a store, from which the log can still be read.
    ///
    /// - Throws: `StorageError/Code/cursorExpired` if it is of another store, of changes that the
    ///   log does not have any more, or of changes that a file put back to an earlier state never had.
    static func place(
        of cursor: ChangeCursor,
        in state: StoreState,
        _ database: Database,
        epoch: UInt64
    ) throws -> Place {
        guard let position = ChangePosition(cursor), position.epoch == epoch else {
            throw StorageError(.cursorExpired, "the cursor is not one of this store")
        }
        let point = position.place.point
        guard point.sequence >= state.trimmed else {
            throw StorageError(.cursorExpired, "the change log does not reach back to the cursor")
        }
        guard try isKnown(point, in: state, database) else {
            throw StorageError(
                .cursorExpired,
                "the store has never had the cursor’s change: its file was put back to an earlier state"
            )
        }
        return position.place
    }

    /// Whether a place that the log reaches back to is one of this store's history.
    private static func isKnown(
        _ point: LogPoint,
        in state: StoreState,
        _ database: Database
    ) throws -> Bool {
        if let known = try LogPoint(point.sequence, in: database) { return known == point }
        guard point.sequence <= state.compacted else { return false }
        return try LogPoint.period(at: point.sequence, in: database)
            == LogPoint.period(of: point.mark)
    }

    // MARK: Numbers in bytes, the highest first

    static func append(_ number: Int64, to bytes: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}
#endif
