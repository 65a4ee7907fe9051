/// The operations that a storage adapter offers beyond reading and writing documents.
///
/// Without ``aggregation`` and ``changeLog``, the client computes aggregates and polls. Calls that need another
/// undeclared capability throw ``StorageError/Code/unsupported``.
public struct StorageCapabilities: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `changes(_:)` reports the documents that were changed or removed after a cursor, until the cursor expires.
    ///
    /// Without it and ``queryChanges``, listeners poll their queries.
    public static let changeLog = Self(rawValue: 1 << 0)
    /// A batch can require that documents and query results have not changed since they were read.
    public static let transactions = Self(rawValue: 1 << 1)
    /// A batch with an id takes effect once, even if it is committed several times.
    ///
    /// The store recognizes it for at least the days that the adapter documents.
    public static let idempotentCommits = Self(rawValue: 1 << 2)
    /// The store computes counts, sums and averages.
    public static let aggregation = Self(rawValue: 1 << 3)
    /// The store maintains and uses the indexes that the schema declares.
    public static let declaredIndexes = Self(rawValue: 1 << 4)
    /// `replicate` writes store a document together with its times and revision.
    public static let replication = Self(rawValue: 1 << 5)
    /// The names of collections can be listed.
    public static let collectionListing = Self(rawValue: 1 << 6)
    /// Searches find words in declared fields.
    public static let textSearch = Self(rawValue: 1 << 7)
    /// The change log records the origins of batches and acknowledges the mutations of clients.
    public static let origins = Self(rawValue: 1 << 8)
    /// Documents can be read as of a past time within the store's history.
    public static let pointInTimeReads = Self(rawValue: 1 << 9)
    /// A read can require that the results of earlier reads are unchanged, so that a transaction sees one moment.
    public static let checkedReads = Self(rawValue: 1 << 10)
    /// The state behind a read can be held for a while, so that a long result is read in consistent parts without a
    /// history.
    public static let heldReads = Self(rawValue: 1 << 11)
    /// `changes(_:)` follows the result of a query, or single documents, even without a ``changeLog``.
    public static let queryChanges = Self(rawValue: 1 << 12)
}

extension StorageCapabilities: CustomStringConvertible {
    public var description: String {
        let names: [(Self, String)] = [
            (.changeLog, "changeLog"), (.transactions, "transactions"),
            (.idempotentCommits, "idempotentCommits"), (.aggregation, "aggregation"),
            (.declaredIndexes, "declaredIndexes"), (.replication, "replication"),
            (.collectionListing, "collectionListing"), (.textSearch, "textSearch"),
            (.origins, "origins"), (.pointInTimeReads, "pointInTimeReads"),
            (.checkedReads, "checkedReads"),
            (.heldReads, "heldReads"), (.queryChanges, "queryChanges"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
