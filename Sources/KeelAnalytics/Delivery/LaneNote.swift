internal import KeelCore
internal import KeelJournal

/// The counters of a destination, as the journal keeps them together with its cursor.
///
/// An array of CBOR: the version 1; how many arrived and how many were purged; how many were
/// rejected, by reason; and where the records begin whose fate nobody knows, as numbers of a segment
/// and a place by turns.
struct LaneNote: Sendable, Hashable {
    /// What becomes of a record.
    enum Fate: Sendable, Hashable {
        case delivered
        case purged
        case rejected(String)
    }

    /// The most records in doubt at a time: they have to fit into a note.
    static let doubtLimit = 128
    private static let reasonLimit = 32
    private static let reasonByteLimit = 40

    private(set) var delivered = 0
    private(set) var purged = 0
    private(set) var rejected: [String: Int] = [:]
    /// Records that were about to be sent to a destination that counts twice.
    ///
    /// A start that finds some does not send them again.
    var doubtful: [JournalPosition] = []

    init() {}

    mutating func add(_ fate: Fate) {
        switch fate {
        case .delivered: delivered += 1
        case .purged: purged += 1
        case .rejected(let reason): rejected[key(for: reason), default: 0] += 1
        }
    }

    /// The name that a reason is counted under: a note has an end.
    private func key(for reason: String) -> String {
        guard rejected[reason] == nil else { return reason }
        let isFit = rejected.count < Self.reasonLimit && reason.utf8.count <= Self.reasonByteLimit
        return isFit ? reason : "other"
    }

    /// How many records are accounted for.
    var sum: Int { delivered + purged + rejected.values.reduce(0, +) }

    var bytes: [UInt8] {
        var writer = CBORWriter()
        writer.arrayHeader(5)
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
        return writer.bytes
    }

    /// Reads a note; one that is empty or of another version counts nothing.
    init(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, let note = try? LaneNote(reading: bytes) else { return }
        self = note
    }

    private init(reading bytes: [UInt8]) throws(CBORError) {
        var reader = CBORReader(bytes)
        guard try reader.readArrayHeader() == 5, try reader.readUnsigned() == 1 else {
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
    }
}
