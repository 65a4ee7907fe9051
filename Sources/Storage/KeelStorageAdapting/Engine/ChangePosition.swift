internal import KeelCore
package import KeelDocuments

/// A place in the change log: a sequence number and the mark of the commit that wrote the change.
///
/// A file restored to an earlier state eventually assigns the same numbers to other changes. Their marks differ,
/// because each commit draws a random mark.
///
/// A negative mark has a *period* in its upper half: a random number shared by commits until an adapter is opened or
/// some thousand changes are written. The first and the last change of a period stay in the log as long as any change
/// between them does, as does the last change of each document. A place whose change was superseded and removed is
/// recognized by the period around it.
package struct LogPoint: Hashable {
    package var sequence: Int64
    /// Zero before the first change and for changes without marks.
    package var mark: Int64

    package init(_ sequence: Int64, mark: Int64) {
        self.sequence = sequence
        self.mark = mark
    }

    // MARK: Periods

    package static func newPeriod() -> Int64 { Int64(Int32.random(in: .min ... -1)) }

    package static func newMark(in period: Int64) -> Int64 {
        period << 32 | Int64(UInt32.random(in: 0...UInt32.max - 1))
    }

    package static func period(of mark: Int64) -> Int64 { mark < 0 ? mark >> 32 : 0 }
}

/// The decoded form of a cursor: the store's epoch and a place.
///
/// Cursors of one store compare like their places, because a copy precedes the log and numbers are big-endian.
package struct ChangePosition {
    package enum Place {
        /// A copy of all documents, complete up to a row; the log continues from `start`.
        case copy(start: LogPoint, row: Int64)
        /// A copy of some collections, complete before a collection and, within it, up to a document id.
        case scopedCopy(start: LogPoint, collection: Int64, id: String)
        /// The log, up to a change.
        case log(LogPoint)

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

    // Kinds 0 and 1 were cursors without marks.
    private static let copyKind: UInt8 = 2
    private static let logKind: UInt8 = 3

    package init?(_ cursor: ChangeCursor) {
        let bytes = cursor.bytes
        guard bytes.count >= 25 else { return nil }
        epoch = UInt64(bigEndianBytes: bytes[..<8])
        let start = LogPoint(
            Int64(bigEndianBytes: bytes[9..<17]),
            mark: Int64(bigEndianBytes: bytes[17..<25])
        )
        switch (bytes[8], bytes.count) {
        case (Self.copyKind, 33):
            place = .copy(start: start, row: Int64(bigEndianBytes: bytes[25...]))
        case (Self.copyKind, 34...):
            // An id has at least one byte, so the length distinguishes the two kinds of copies.
            place = .scopedCopy(
                start: start,
                collection: Int64(bigEndianBytes: bytes[25..<33]),
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

    // MARK: Big-endian numbers

    package static func append(_ number: Int64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}
