internal import KeelDocuments

/// A type that keeps documents.
///
/// Apps use `StorageClient`; adapters implement this protocol and nothing more. Encoding,
/// validation, typed collections, listeners and retries belong to the front and to decorators. An
/// adapter promises that
///
/// - a commit that returned is seen by every later read, from any task;
/// - a batch takes effect whole or not at all, and its writes apply in order;
/// - deleting a missing document succeeds, and a write that changes nothing leaves the document's
///   revision and times as they are;
/// - revisions of a document only grow, also across deletion, and so do its times, whatever the clock does;
/// - the store's time, which is that of commits, reads and pages of changes, never goes back;
/// - an error whose `StorageError/effect` is `none` left the stored data as it was;
/// - it does not call back into user code, and takes calls from any number of tasks.
///
/// It declares in ``capabilities`` whatever it offers beyond that; a request that needs more is
/// refused with `StorageError/Code/unsupported`. ``StorageEvaluator`` holds the semantics of
/// writes, filters and order as pure functions: use it, and the adapter agrees with all others.
///
/// Run `StorageAdapterCheck` from `KeelConformance` against every new adapter and decorator.
public protocol StorageAdapter: Sendable {
    /// The operations that this adapter offers beyond reading and writing documents.
    var capabilities: StorageCapabilities { get }

    /// Declares the indexes of a schema, and begins to build those that the store lacks.
    ///
    /// An adapter may go on building after the call has returned; queries scan until their index is
    /// complete, also strict ones. Calling it again with the same schema costs little. Indexes that other
    /// processes have declared stay.
    func prepare(_ schema: StorageSchema) async throws(StorageError)

    /// Reads documents, a query's result, aggregates or the names of collections.
    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult

    /// Applies each batch atomically, in order, and reports on each.
    ///
    /// A batch that fails does not stop the ones after it. An error thrown by the call itself
    /// concerns all of them.
    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>]

    /// Returns the next changes after a cursor, waiting for one if the request says so.
    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage
}
