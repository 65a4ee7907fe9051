#if SQLite
internal import KeelStorage

/// What the bytes of a cursor mean: the store's epoch, then a place.
///
/// Cursors of one store compare like the places, because a copy comes before the log and numbers
/// are written with their highest byte first.
struct ChangePosition {
    enum Place {
        /// A copy of all documents: those up to a row are there, the log goes on from `start`.
        case copy(start: Int64, row: Int64)
        /// A copy of some collections: those before a collection are there, and of that one the
        /// documents up to an identifier.
        case scopedCopy(start: Int64, collection: Int64, id: String)
        /// The log up to a sequence.
        case log(Int64)
    }

    let epoch: UInt64
    let place: Place

    init(epoch: UInt64, _ place: Place) {
        self.epoch = epoch
        self.place = place
    }

    init?(_ cursor: ChangeCursor) {
        let bytes = cursor.bytes
        guard bytes.count >= 17 else { return nil }
        epoch = UInt64(bitPattern: Self.number(bytes[..<8]))
        switch (bytes[8], bytes.count) {
        case (0, 25):
            place = .copy(start: Self.number(bytes[9..<17]), row: Self.number(bytes[17...]))
        case (0, 26...):
            // An identifier has a byte at least, so that the length tells both copies apart.
            place = .scopedCopy(
                start: Self.number(bytes[9..<17]),
                collection: Self.number(bytes[17..<25]),
                id: String(decoding: bytes[25...], as: UTF8.self)
            )
        case (1, 17): place = .log(Self.number(bytes[9...]))
        default: return nil
        }
    }

    var cursor: ChangeCursor {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(25)
        Self.append(Int64(bitPattern: epoch), to: &bytes)
        switch place {
        case .copy(let start, let row):
            bytes.append(0)
            Self.append(start, to: &bytes)
            Self.append(row, to: &bytes)
        case .scopedCopy(let start, let collection, let id):
            bytes.append(0)
            Self.append(start, to: &bytes)
            Self.append(collection, to: &bytes)
            bytes += id.utf8
        case .log(let sequence):
            bytes.append(1)
            Self.append(sequence, to: &bytes)
        }
        return ChangeCursor(bytes: bytes)
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
