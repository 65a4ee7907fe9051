internal import KeelDocuments

/// A type that stores documents.
///
/// Encoding, validation, typed collections, listeners and retries belong to `StorageClient` and to decorators. An
/// adapter guarantees that:
///
/// - A commit that has returned is visible to every later read, from any task.
/// - A batch takes effect completely or not at all, and its writes apply in order.
/// - Deleting a missing document succeeds, and a write that changes nothing keeps the document's revision and times.
/// - The revisions and the times of a document only increase, even across deletion and whatever the clock does, except
///   by `DocumentWrite/Operation/replicate(_:)`.
/// - The store's time in commits, reads and pages of changes never decreases.
/// - An error whose `StorageError/effect` is `none` left the stored data unchanged.
/// - It never calls user code, and accepts calls from any number of tasks.
///
/// Requests that need more than ``capabilities`` throw `StorageError/Code/unsupported`. ``StorageEvaluator`` implements
/// the semantics of writes, filters and orders as pure functions.
///
/// Run `StorageAdapterCheck` from `KeelConformance` against every new adapter and decorator.
public protocol StorageAdapter: Sendable {
    /// The operations that this adapter offers beyond reading and writing documents.
    var capabilities: StorageCapabilities { get }

    /// The records that all servers of the store share; nil, the default, if each server keeps its own.
    ///
    /// A decorator returns those of the adapter that it decorates.
    var sharedRecords: (any SharedRecords)? { get }

    /// Declares the indexes of a schema and starts building those that the store lacks.
    ///
    /// An adapter may continue building after the call returns; until an index is complete, even strict queries scan.
    /// Repeating the call with the same schema is cheap. Indexes that other processes declared are kept.
    func prepare(_ schema: StorageSchema) async throws(StorageError)

    /// Reads documents, the result of a query, aggregations or the names of collections.
    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult

    /// Applies each batch atomically, in order, and returns one result per batch.
    ///
    /// A batch that fails does not stop the batches after it, unless the store cannot be reached. An error thrown by
    /// the call itself applies to all batches.
    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>]

    /// Returns the next changes after a cursor, waiting for a change if requested.
    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage
}

extension StorageAdapter {
    public var sharedRecords: (any SharedRecords)? { nil }
}
