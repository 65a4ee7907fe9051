#if SQLite
internal import GRDB
internal import KeelStorage

/// A place in the change log: a sequence, and the mark of the commit that wrote its change.
///
/// A sequence alone does not name a change. A file that was put back to an earlier state gives the same
/// sequences to other changes in time; their marks are others, because each commit draws its own.
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

    /// The place of a sequence, also of one that the log does not have any more: that one expires.
    static func at(_ sequence: Int64, in database: Database) throws -> LogPoint {
        try LogPoint(sequence, in: database) ?? LogPoint(sequence, mark: 0)
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
        guard try LogPoint(point.sequence, in: database) == point else {
            throw StorageError(
                .cursorExpired,
                "the store has never had the cursor’s change: its file was put back to an earlier state"
            )
        }
        return position.place
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
