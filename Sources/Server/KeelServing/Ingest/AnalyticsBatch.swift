import KeelStorage
import KeelStorageFirestore

/// A batch of analytics records; see `Documentation/Protocols/AnalyticsIngest.md`.
struct AnalyticsBatch {
    static let mostRecords = 1_000
    /// The maximum size of a record as JSON, in bytes.
    static let longestRecord = 64 << 10

    private let records: [FirestoreJSON]

    init(_ json: FirestoreJSON) throws(StorageError) {
        guard try json.wholeNumber("version") == 1 else {
            throw FirestoreDecoding.flaw("“version” is not 1, the only supported version")
        }
        records = try json.list("records")
        guard records.count <= Self.mostRecords else {
            throw StorageError(
                .tooLarge,
                "a batch has \(records.count) records; the maximum is \(Self.mostRecords)"
            )
        }
    }

    /// Stores the records and returns the reply, with the outcome of each record.
    ///
    /// Of records with the same id, only the first is stored.
    ///
    /// - Throws: Errors of the store, and `invalidArgument` if a record has no id.
    func keep(in store: IngestStore, at now: Timestamp) async throws(StorageError) -> FirestoreJSON
    {
        var kept: [(id: String, fields: DocumentFields)] = []
        var rejected: [FirestoreJSON] = []
        // Of bytes, because `String` equality includes canonical equivalence.
        var ids: Set<[UInt8]> = []
        for record in records {
            guard let id = try record.text("id"), !id.isEmpty else {
                throw FirestoreDecoding.flaw("a record has no “id”")
            }
            // The reply has each id once.
            guard ids.insert(Array(id.utf8)).inserted else { continue }
            do throws(StorageError) {
                kept.append((id, try Self.fields(of: record, at: now)))
            } catch {
                rejected.append(Self.rejection(id, error.message))
            }
        }
        let outcomes = try await store.keep(kept)
        var accepted: [FirestoreJSON] = []
        var duplicates: [FirestoreJSON] = []
        for ((id, _), outcome) in zip(kept, outcomes) {
            switch outcome {
            case .accepted: accepted.append(.string(id))
            case .duplicate: duplicates.append(.string(id))
            case .rejected(let reason): rejected.append(Self.rejection(id, reason))
            }
        }
        return [
            "accepted": .array(accepted), "duplicates": .array(duplicates),
            "rejected": .array(rejected),
        ]
    }

    private static func rejection(_ id: String, _ detail: String) -> FirestoreJSON {
        ["id": .string(id), "reason": "invalid", "detail": .string(detail)]
    }

    // MARK: Records

    private static let kinds: Set<String> = ["event", "screen", "identify", "userProperties"]

    /// Returns the fields of a record, with timestamps in place of milliseconds.
    private static func fields(
        of record: FirestoreJSON,
        at now: Timestamp
    ) throws(StorageError) -> DocumentFields {
        guard record.bytes.count <= longestRecord else {
            throw FirestoreDecoding.flaw("the record has more than \(longestRecord) bytes")
        }
        let kind = try record.text("kind") ?? ""
        guard kinds.contains(kind) else { throw FirestoreDecoding.flaw("“kind” is not known") }
        if kind == "event" || kind == "screen" {
            guard try record.text("name")?.isEmpty == false else {
                throw FirestoreDecoding.flaw("the record has no “name”")
            }
        }
        let userID = try record.text("userId") ?? ""
        guard kind != "identify" || !userID.isEmpty else {
            throw FirestoreDecoding.flaw("the record has no “userId”")
        }
        guard try record.text("anonymousId")?.isEmpty == false else {
            throw FirestoreDecoding.flaw("the record has no “anonymousId”")
        }
        guard case .map(var fields) = record.plainValue else { return DocumentFields() }
        fields["time"] = .timestamp(try moment("time", of: record))
        if let session = try record.object("session"), case .map(var inner)? = fields["session"] {
            inner["start"] = .timestamp(try moment("start", of: session))
            fields["session"] = .map(inner)
        }
        fields["receivedAt"] = .timestamp(now)
        return fields
    }

    private static func moment(
        _ name: String,
        of json: FirestoreJSON
    ) throws(StorageError) -> Timestamp {
        guard let milliseconds = try json.wholeNumber(name),
            case (let microseconds, let overflow) = milliseconds.multipliedReportingOverflow(
                by: 1000
            ),
            !overflow
        else { throw FirestoreDecoding.flaw("“\(name)” is not a number of milliseconds") }
        return Timestamp(microseconds: microseconds)
    }
}
