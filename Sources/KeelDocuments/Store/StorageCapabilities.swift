/// The operations that a storage adapter offers beyond reading and writing documents.
///
/// The front refuses what is not declared before the backend is called, with
/// ``StorageError/Code/unsupported``, so that nothing is silently wrong.
public struct StorageCapabilities: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `changes(_:)` reports every change; without it, listeners poll their query.
    ///
    /// A reader that was away learns of what has changed and of what is gone, also where the store has
    /// forgotten the changes in between.
    public static let changeLog = Self(rawValue: 1 << 0)
    /// A batch can be made to depend on documents and queries having stayed as they were read.
    public static let transactions = Self(rawValue: 1 << 1)
    /// A batch with an id takes effect once, however often it is committed.
    ///
    /// The store recognises a repetition for at least as long as its adapter says, days and not hours:
    /// longer than any client goes on repeating.
    public static let idempotentCommits = Self(rawValue: 1 << 2)
    /// Counts, sums and averages are computed by the store; without it the front computes them.
    public static let aggregation = Self(rawValue: 1 << 3)
    /// Indexes declared in the schema are kept and used.
    public static let declaredIndexes = Self(rawValue: 1 << 4)
    /// `replicate` writes store a document with its times and revision.
    public static let replication = Self(rawValue: 1 << 5)
    /// The names of collections can be listed.
    public static let collectionListing = Self(rawValue: 1 << 6)
    /// Words can be searched for in declared fields.
    public static let textSearch = Self(rawValue: 1 << 7)
    /// The change log keeps the origins of batches, and acknowledges the mutations of clients.
    public static let origins = Self(rawValue: 1 << 8)
    /// Documents can be read as they were at a time in the past, as far as the history goes back.
    public static let pointInTimeReads = Self(rawValue: 1 << 9)
    /// A read can be made conditional on the results of earlier reads being unchanged, so that the body
    /// of a transaction never sees documents of two moments.
    public static let checkedReads = Self(rawValue: 1 << 10)
    /// The state that a read was answered from can be held for a while, so that a long result can be read
    /// in parts that are of one moment, also where the store keeps no history.
    public static let heldReads = Self(rawValue: 1 << 11)
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
            (.heldReads, "heldReads"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
