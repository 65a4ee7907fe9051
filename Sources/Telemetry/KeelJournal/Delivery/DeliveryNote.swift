internal import KeelCBOR

/// The counters of a receiver, stored in the journal together with its consumer's cursor.
///
/// Encoded as a CBOR array: the version 1; the number of delivered and of purged records; the
/// numbers of rejected records by reason; the records in doubt, alternating segment and offset; and,
/// unless it is zero, the number of lost records that were reported.
package struct DeliveryNote: Sendable, Hashable {
    /// The maximum number of records in doubt, which must fit into a note.
    static let doubtLimit = 128
    private static let reasonLimit = 32
    private static let reasonByteLimit = 40

    package private(set) var delivered = 0
    package private(set) var purged = 0
    package private(set) var rejected: [String: Int] = [:]
    /// Records about to be sent to a receiver that must get none twice.
    ///
    /// After a restart, they are not sent again.
    var doubtful: [JournalPosition] = []
    /// How many of the records lost to the journal's bounds the receiver has reported.
    package internal(set) var reportedLosses = 0

    mutating func add(_ fate: DeliveryFate) {
        switch fate {
        case .delivered: delivered += 1
        case .purged: purged += 1
        case .rejected(let reason): rejected[key(for: reason), default: 0] += 1
        }
    }

    /// Returns the key that a reason is counted under, as the size of a note is limited.
    private func key(for reason: String) -> String {
        guard rejected[reason] == nil else { return reason }
        let isFit = rejected.count < Self.reasonLimit && reason.utf8.count <= Self.reasonByteLimit
        return isFit ? reason : "other"
    }

    package var sum: Int { delivered + purged + rejected.values.reduce(0, +) }

    var bytes: [UInt8] {
        var writer = CBORWriter()
        writer.arrayHeader(reportedLosses == 0 ? 5 : 6)
        writer.unsigned(1)
        writer.integer(Int64(delivered))
        writer.integer(Int64(purged))
        writer.mapHeader(rejected.count)
        for (reason, count) in rejected.sorted(by: { $0.key < $1.key }) {
            writer.text(reason)
            writer.integer(Int64(count))
        }
        writer.arrayHeader(doubtful.count * 2)
        for position in doubtful {
            writer.unsigned(position.segment)
            writer.integer(Int64(position.offset))
        }
        if reportedLosses != 0 { writer.integer(Int64(reportedLosses)) }
        return writer.bytes
    }

    /// Parses a note; an empty one, or one of another version, has zero counts.
    package init(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, let note = try? DeliveryNote(reading: bytes) else { return }
        self = note
    }

    private init(reading bytes: [UInt8]) throws(CBORError) {
        var reader = CBORReader(bytes)
        let count = try reader.readArrayHeader()
        guard count == 5 || count == 6, try reader.readUnsigned() == 1 else {
            throw CBORError(.unsupported, at: 0)
        }
        delivered = Int(try reader.readInteger())
        purged = Int(try reader.readInteger())
        for _ in 0..<(try reader.readMapHeader() ?? 0) {
            let reason = try reader.readText()
            rejected[reason] = Int(try reader.readInteger())
        }
        for _ in 0..<(try reader.readArrayHeader() ?? 0) / 2 {
            let segment = try reader.readUnsigned()
            let offset = Int(try reader.readInteger())
            doubtful.append(JournalPosition(segment: segment, offset: offset))
        }
        if count == 6 { reportedLosses = Int(try reader.readInteger()) }
    }
}
