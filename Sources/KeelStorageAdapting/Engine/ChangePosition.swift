package import KeelDocuments

/// A place in the change log: a sequence, and the mark of the commit that wrote its change.
///
/// A sequence alone does not name a change. A file that was put back to an earlier state gives the same
/// sequences to other changes in time; their marks are others, because each commit draws its own.
///
/// A mark below zero has a *period* in its upper half: a random number that commits share until an
/// adapter is opened, or there are some thousand changes of it. The first change of a period stays in the log as long as
/// anything of the period does, and so does the last one of each document: a place whose change has
/// been superseded and removed is recognised by its period.
package struct LogPoint: Hashable {
    package var sequence: Int64
    /// Zero before the first change, and for changes that were written without marks.
    package var mark: Int64

    package init(_ sequence: Int64, mark: Int64) {
        self.sequence = sequence
        self.mark = mark
    }

    // MARK: Periods

    /// A period that no commit has been in.
    package static func newPeriod() -> Int64 { Int64(Int32.random(in: .min ... -1)) }

    /// The mark of a commit.
    package static func newMark(in period: Int64) -> Int64 {
        period << 32 | Int64(UInt32.random(in: 0...UInt32.max - 1))
    }

    /// The period of a mark; zero for those of an earlier version.
    package static func period(of mark: Int64) -> Int64 { mark < 0 ? mark >> 32 : 0 }
}

/// What the bytes of a cursor mean: the store's epoch, then a place.
///
/// Cursors of one store compare like the places, because a copy comes before the log and numbers
/// are written with their highest byte first.
package struct ChangePosition {
    package enum Place {
        /// A copy of all documents: those up to a row are there, the log goes on from `start`.
        case copy(start: LogPoint, row: Int64)
        /// A copy of some collections: those before a collection are there, and of that one the
        /// documents up to an identifier.
        case scopedCopy(start: LogPoint, collection: Int64, id: String)
        /// The log up to a change.
        case log(LogPoint)

        /// Where the log goes on.
        package var point: LogPoint {
            switch self {
            case .copy(let start, _), .scopedCopy(let start, _, _), .log(let start): start
            }
        }
    }

    package let epoch: UInt64
    package let place: Place

    package init(epoch: UInt64, _ place: Place) {
        self.epoch = epoch
        self.place = place
    }

    // The kinds 0 and 1 were those of cursors without marks.
    private static let copyKind: UInt8 = 2
    private static let logKind: UInt8 = 3

    package init?(_ cursor: ChangeCursor) {
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

    package var cursor: ChangeCursor {
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

    // MARK: Numbers in bytes, the highest first

    package static func append(_ number: Int64, to bytes: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
    }

    package static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}
