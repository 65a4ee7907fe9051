import KeelStorage
import KeelStorageFirestore

/// The log records of an `ExportLogsServiceRequest` of OpenTelemetry's protocol, version 1.
///
/// opentelemetry-proto, `logs/v1/logs.proto` and `common/v1/common.proto`.
struct LogExport {
    /// The attribute that tells a repetition from a new record (OpenTelemetry's semantic conventions).
    static let idAttribute = "log.record.uid"
    /// The most records of a request.
    static let mostRecords = 10_000
    /// The most bytes that the records of a request take once each has its resource's attributes.
    ///
    /// Without this, a few kilobytes of compressed records would become gigabytes of documents.
    static let maximumBytes = 64 << 20

    private(set) var records: [(id: String, fields: DocumentFields)] = []
    private var byteCount = 0

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - fields: What it says.
    ///   - source: What it shares with others of the request.
    ///   - makeID: Makes an id for one that names none.
    /// - Throws: `tooLarge` if there are too many records, or if they would take too many bytes.
    mutating func append(
        _ fields: DocumentFields,
        of source: LogSource,
        makeID: () -> String
    ) throws(StorageError) {
        guard records.count < Self.mostRecords else {
            throw StorageError(
                .tooLarge,
                "the request has more than \(Self.mostRecords) records; send them in several"
            )
        }
        byteCount += source.byteCount
        guard byteCount <= Self.maximumBytes else {
            throw StorageError(
                .tooLarge,
                "the records of the request take more than \(Self.maximumBytes) bytes, because each is "
                    + "kept with its resource; send fewer at a time"
            )
        }
        var fields = fields
        source.add(to: &fields)
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
