public import KeelDocuments
public import KeelStorageAdapting
internal import Synchronization

/// A client of a document store.
///
/// ```swift
/// let storage = StorageClient(InMemoryStorageAdapter())
/// try await storage.setDocument("notes/1", ["text": "Hello"])
/// let note = try await storage.getDocument("notes/1")
/// ```
///
/// A client is a value: copies share the adapter and, for all listeners, one reader of the change log. The client
/// validates each call before it reaches the adapter, so calls behave the same on all adapters.
///
/// Calls throw `StorageError`; `commit` and `transaction` also throw the errors of their closures. Every call can throw
/// `StorageError/Code/invalidArgument` for a path, field, value or query that breaks a rule of the data model,
/// `StorageError/Code/tooLarge` for a document above 1 MiB or an encoded value of more than 20 levels,
/// `StorageError/Code/timeout` at the time limit, `StorageError/Code/cancelled` in a canceled task, and the failures of
/// the store, such as `unavailable`, `busy`, `diskFull` and `closed`. The methods list only further codes.
public struct StorageClient: Sendable {
    package let adapter: any StorageAdapter
    package internal(set) var configuration: Configuration
    package let preparation: SchemaPreparation
    package internal(set) var hub: ListenerHub

    /// Creates a client.
    public init(_ adapter: some StorageAdapter, configuration: Configuration = Configuration()) {
        self.init(
            adapter,
            configuration: configuration,
            preparation: SchemaPreparation(configuration.schema)
        )
    }

    init(
        _ adapter: some StorageAdapter,
        configuration: Configuration,
        preparation: SchemaPreparation
    ) {
        self.adapter = adapter
        self.configuration = configuration
        self.preparation = preparation
        hub = ListenerHub(adapter: adapter, configuration: configuration)
    }

    var isOfThePast: Bool { (adapter as? StorageView)?.isOfThePast == true }

    /// Creates a client with a schema and default settings.
    public init(_ adapter: some StorageAdapter, schema: StorageSchema) {
        self.init(adapter, configuration: Configuration(schema: schema))
    }

    /// The adapter's capabilities.
    public var capabilities: StorageCapabilities { adapter.capabilities }

    /// Declares the schema's indexes, and starts building missing ones.
    ///
    /// Otherwise, the first call that reaches the adapter does so. After a failure, the next call tries again.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` for an invalid index definition, or the error of the store.
    @concurrent
    public func prepare() async throws(StorageError) {
        try await preparation.run(on: adapter)
    }

    package func require(
        _ needed: StorageCapabilities,
        for operation: String
    ) throws(StorageError) {
        let missing = needed.subtracting(capabilities)
        guard !missing.isEmpty else { return }
        throw StorageError(
            .unsupported,
            "\(operation) needs an adapter that offers \(missing)",
            operation: operation
        )
    }

    /// Reads through the adapter.
    package func read(
        _ request: ReadRequest,
        for operation: String,
        on resource: @autoclosure () -> String? = nil
    ) async throws(StorageError) -> ReadResult {
        do throws(StorageError) {
            let result =
                if let context {
                    try await context.run { () async throws(StorageError) in
                        try await answer(request)
                    }
                } else {
                    try await answer(request)
                }
            if let plan = result.plan, plan.suggestion != nil { report(plan, of: request) }
            return result
        } catch {
            throw error.during(operation, on: resource())
        }
    }

    private func answer(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await preparation.run(on: adapter)
        return try await adapter.read(request)
    }

    private func report(_ plan: QueryPlan, of request: ReadRequest) {
        switch request.operation {
        case .query(let query), .aggregate(let query, _): configuration.onFullScan?(query, plan)
        case .documents, .collections: return
        }
    }

    /// Commits one batch through the adapter; `ownWrites` are writes to reserved paths.
    package func commit(
        _ batch: WriteBatch,
        own ownWrites: [DocumentWrite] = [],
        for operation: String,
        on resource: @autoclosure () -> String? = nil
    ) async throws(StorageError) -> CommitReceipt {
        do throws(StorageError) {
            try WriteValidation.check(batch.writes, own: ownWrites)
            var batch = batch
            batch.writes += ownWrites
            guard let context else { return try await apply(batch) }
            return try await context.run { [batch] () async throws(StorageError) in
                try await apply(batch)
            }
        } catch {
            throw error.during(operation, on: resource())
        }
    }

    func apply(_ batch: WriteBatch) async throws(StorageError) -> CommitReceipt {
        try await apply([batch])[0].get()
    }

    func apply(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await preparation.run(on: adapter)
        let results = try await adapter.commit(batches)
        guard results.count == batches.count else {
            throw StorageError(
                .unknown,
                "the adapter returned \(results.count) results for \(batches.count) batches",
                effect: .unknown
            )
        }
        return results
    }
}

/// Prepares an adapter for a schema once, before the first call that reaches it.
package final class SchemaPreparation: Sendable {
    private let schema: StorageSchema
    private let isDone: Atomic<Bool>

    package init(_ schema: StorageSchema) {
        self.schema = schema
        isDone = Atomic(schema == StorageSchema())
    }

    /// Prepares the adapter unless that has been done; concurrent first calls may prepare it twice.
    package func run(on adapter: any StorageAdapter) async throws(StorageError) {
        guard !isDone.load(ordering: .acquiring) else { return }
        try schema.check()
        try await adapter.prepare(schema)
        isDone.store(true, ordering: .releasing)
    }
}
