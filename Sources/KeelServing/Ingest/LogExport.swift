import KeelStorage
import KeelStorageFirestore

/// The log records of an `ExportLogsServiceRequest` of OpenTelemetry's protocol, version 1.
///
/// opentelemetry-proto, `logs/v1/logs.proto` and `common/v1/common.proto`.
struct LogExport {
    /// The attribute that tells a repetition from a new record (OpenTelemetry's semantic conventions).
    static let idAttribute = "log.record.uid"

    private(set) var records: [(id: String, fields: DocumentFields)] = []

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - fields: What it says.
    ///   - makeID: Makes an id for one that names none.
    mutating func append(_ fields: DocumentFields, makeID: () -> String) {
        var id: String?
        if case .map(let attributes)? = fields["attributes"],
            case .string(let text)? = attributes[Self.idAttribute]
        {
            id = text
        }
        records.append((id ?? makeID(), fields))
    }

    /// Keeps the records.
    ///
    /// - Parameter store: Where they are kept.
    /// - Returns: How many cannot be kept, and why one of them.
    /// - Throws: What the store throws.
    func keep(
        in store: IngestStore
    ) async throws(StorageError) -> (rejected: Int, reason: String?) {
        var (rejected, reason) = (0, String?.none)
        for case .rejected(let why) in try await store.keep(records) {
            rejected += 1
            reason = why
        }
        return (rejected, reason)
    }

    /// The time of a record in nanoseconds, as a moment; the protocol says zero for "not known".
    static func moment(_ nanoseconds: UInt64) -> DocumentValue? {
        nanoseconds == 0 ? nil : .timestamp(Timestamp(microseconds: Int64(nanoseconds / 1000)))
    }
}
