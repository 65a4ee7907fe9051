/// The operations that a storage adapter offers beyond reading and writing documents.
///
/// The client rejects calls that need an undeclared capability with ``StorageError/Code/unsupported``, before they
/// reach the backend.
public struct StorageCapabilities: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `changes(_:)` reports every change; without it, listeners poll their queries.
    ///
    /// A reader that returns after an absence learns which documents changed and which were removed, even if the store
    /// has discarded the changes in between.
    public static let changeLog = Self(rawValue: 1 << 0)
    /// A batch can require that documents and query results are unchanged since they were read.
    public static let transactions = Self(rawValue: 1 << 1)
    /// A batch with an id takes effect once, even if it is committed several times.
    ///
    /// The store recognizes a repeated batch for at least the period that its adapter documents: days rather than
    /// hours, and longer than any client keeps retrying.
    public static let idempotentCommits = Self(rawValue: 1 << 2)
    /// The store computes counts, sums and averages; without it, the client computes them.
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
    /// A read can require that the results of earlier reads are unchanged, so that the body of a transaction never sees
    /// documents from two different moments.
    public static let checkedReads = Self(rawValue: 1 << 10)
    /// The state behind a read can be held for a while, so that a long result can be read in consistent parts even if
    /// the store keeps no history.
    public static let heldReads = Self(rawValue: 1 << 11)
    /// `changes(_:)` follows the result of a query, or single documents, even without a ``changeLog``.
    ///
    /// Listeners on an adapter without a change log use it instead of polling.
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
