internal import KeelDocuments
internal import KeelStorageAdapting
internal import Synchronization

/// Prepares an adapter for a schema once, before the first call that reaches it.
package final class SchemaPreparation: Sendable {
    private let schema: StorageSchema
    private let isDone: Atomic<Bool>

    init(_ schema: StorageSchema) {
        self.schema = schema
        isDone = Atomic(schema == StorageSchema())
    }

    /// Prepares the adapter unless that has been done.
    ///
    /// Concurrent first calls may prepare it twice, which adapters must accept. After a failure, the next call tries
    /// again.
    func run(on adapter: any StorageAdapter) async throws(StorageError) {
        guard !isDone.load(ordering: .acquiring) else { return }
        try schema.check()
        try await adapter.prepare(schema)
        isDone.store(true, ordering: .releasing)
    }
}
