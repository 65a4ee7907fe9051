internal import KeelCore
import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

/// The form of a transaction in the records that servers share: JSON, with the reads as in the protocol.
enum RecordedTransaction {
    private static let database = "projects/keel/databases/(default)"
    static let encoding = FirestoreEncoding(database: database, isExtended: true)
    private static let decoding = FirestoreDecoding(database: database, isExtended: true)

    static func encoded(_ transaction: OpenTransaction) throws(StorageError) -> [UInt8] {
        let (isReadOnly, asOf) =
            switch transaction.kind {
            case .readWrite: (false, Timestamp?.none)
            case .readOnly(let time): (true, time)
            }
        let (phase, hash) =
            switch transaction.phase {
            case .open: ("open", WritesHash?.none)
            case .isBeingCommitted(let hash): ("isBeingCommitted", hash)
            case .committed(let hash): ("committed", hash)
            }
        return FirestoreJSON.members([
            "readOnly": .boolean(isReadOnly),
            "asOf": asOf.map { .string(FirestoreTime.text(of: $0)) },
            "moment": transaction.moment.map { .string(FirestoreTime.text(of: $0.time)) },
            "phase": .string(phase),
            "writes": hash.map { .string(String($0.value)) },
            "position": transaction.position.map { .string(Base64.encode($0.bytes)) },
            "reads": try encoding.reads(transaction.reads),
        ]).bytes
    }

    /// Decodes a transaction; its moment is one of the store's history.
    static func decoded(
        _ content: [UInt8],
        from adapter: any StorageAdapter
    ) throws(StorageError) -> OpenTransaction {
        let json: FirestoreJSON
        do throws(FirestoreJSONError) {
            json = try FirestoreJSON(parsing: content)
        } catch {
            throw damage
        }
        let asOf = try time("asOf", of: json)
        let kind: OpenTransaction.Kind =
            try json.flag("readOnly") == true ? .readOnly(asOf: asOf) : .readWrite
        let moment = try time("moment", of: json).map { ReadMoment(ofHistory: $0, in: adapter) }
        var transaction = OpenTransaction(kind, in: try phase(of: json), at: moment)
        var reads = try decoding.reads(try json.object("reads") ?? [:])
        reads.position = try json.text("position").flatMap(Base64.decode)
            .map { ChangeCursor(bytes: $0) }
        transaction.add(reads)
        return transaction
    }

    private static func phase(of json: FirestoreJSON) throws(StorageError) -> OpenTransaction.Phase
    {
        let hash = try json.text("writes").flatMap(UInt64.init).map(WritesHash.init(value:))
        switch (try json.text("phase"), hash) {
        case ("open", nil): return .open
        case ("isBeingCommitted", let hash?): return .isBeingCommitted(hash)
        case ("committed", let hash?): return .committed(hash)
        default: throw damage
        }
    }

    private static func time(
        _ name: String,
        of json: FirestoreJSON
    ) throws(StorageError) -> Timestamp? {
        try json.text(name).flatMap(FirestoreTime.time(of:))
    }

    private static let damage = StorageError(
        .corrupted,
        "the record of a transaction is damaged; begin the transaction again"
    )
}
