import KeelStorage
import KeelStorageFirestore

/// The log records of an OpenTelemetry `ExportLogsServiceRequest`, version 1.
///
/// Source: opentelemetry-proto, `logs/v1/logs.proto` and `common/v1/common.proto`.
struct LogExport {
    /// The attribute with the unique id of a record (OpenTelemetry's semantic conventions), by which repetitions are
    /// detected.
    static let idAttribute = "log.record.uid"
    static let mostRecords = 10_000
    /// The maximum total size of the attributes and scopes that are copied to the records of a request, in bytes.
    ///
    /// Without it, kilobytes of compressed records could expand to gigabytes of documents.
    static let maximumBytes = 64 << 20

    private(set) var records: [(id: String, fields: DocumentFields)] = []
    private var byteCount = 0

    /// Adds a record.
    ///
    /// - Throws: `tooLarge` if there are too many records, or if their shared attributes take too many bytes.
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

    /// Stores the records and returns the number of rejected ones, with the reason for one of them.
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

    /// Returns the time of a record; nil for zero, which means unknown in the protocol.
    static func moment(_ nanoseconds: UInt64) -> DocumentValue? {
        nanoseconds == 0 ? nil : .timestamp(Timestamp(microseconds: Int64(nanoseconds / 1000)))
    }
}

/// The attributes and the scope that records share, which are stored with each.
struct LogSource {
    let attributes: DocumentFields
    /// The name of the instrumentation scope, or empty.
    var scope = "" {
        didSet { byteCount += scope.utf8.count - oldValue.utf8.count }
    }
    /// The approximate number of bytes added to each record.
    private(set) var byteCount: Int

    init(_ attributes: DocumentFields) {
        self.attributes = attributes
        byteCount = DocumentBody(attributes).bytes.count
    }

    func add(to fields: inout DocumentFields) {
        if !attributes.isEmpty { fields["resource"] = .map(attributes) }
        if !scope.isEmpty { fields["scope"] = .string(scope) }
    }
}
