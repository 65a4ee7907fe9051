public import KeelDocuments
public import KeelStorageAdapting

/// The front of document storage: what apps call.
///
/// ```swift
/// let storage = StorageClient(InMemoryStorageAdapter())
/// try await storage.setDocument("notes/1", ["text": "Hello"])
/// let note = try await storage.getDocument("notes/1")
/// ```
///
/// The client is a value: copies share the adapter, and the listeners' one connection to its
/// change log. It checks every call against the data model's rules before the adapter sees it, so
/// that what works on one adapter works on all. Every call throws `StorageError` and nothing
/// else; a cancelled one throws its code `cancelled`.
public struct StorageClient: Sendable {
    package let adapter: any StorageAdapter
    package internal(set) var configuration: Configuration
    package let preparation: SchemaPreparation
    package let hub: ListenerHub

    /// Creates a client on an adapter.
    ///
    /// The schema is made ready with the first call; call ``prepare()`` to do it at a time of your
    /// choice.
    public init(_ adapter: some StorageAdapter, configuration: Configuration = Configuration()) {
        self.init(
            adapter,
            configuration: configuration,
            preparation: SchemaPreparation(configuration.schema)
        )
    }

    /// Creates a client that shares what makes the schema ready with another one.
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

    /// Whether what is read never changes, because it is past.
    var isOfThePast: Bool { adapter is PointInTimeStorageAdapter }

    /// Creates a client with a schema and otherwise usual settings.
    public init(_ adapter: some StorageAdapter, schema: StorageSchema) {
        self.init(adapter, configuration: Configuration(schema: schema))
    }

    /// The adapter's capabilities.
    public var capabilities: StorageCapabilities { adapter.capabilities }

    /// Declares the schema's indexes, and begins to build those that the store does not have yet.
    @concurrent
    public func prepare() async throws(StorageError) {
        try await preparation.run(on: adapter)
    }

    /// Refuses a call that needs more than the adapter offers.
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

    /// Reads through the adapter, with the schema ready and the error completed.
    package func read(
        _ request: ReadRequest,
        for operation: String,
        on resource: String? = nil
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
            throw error.during(operation, on: resource)
        }
    }

    private func answer(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await preparation.run(on: adapter)
        return try await adapter.read(request)
    }

    private func report(_ plan: QueryPlan, of request: ReadRequest) {
        switch request.operation {
        case .query(let query), .aggregate(let query, _): configuration.onScan?(query, plan)
        case .documents, .collections: return
        }
    }

    /// Commits one batch through the adapter, with writes to Keel's own part of the store.
    package func commit(
        _ batch: WriteBatch,
        own ownWrites: [DocumentWrite] = [],
        for operation: String,
        on resource: String? = nil
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
            throw error.during(operation, on: resource)
        }
    }

    /// Commits one batch that has been checked, with the schema ready.
    func apply(_ batch: WriteBatch) async throws(StorageError) -> CommitReceipt {
        try await preparation.run(on: adapter)
        guard let result = try await adapter.commit([batch]).first else {
            throw StorageError(.unknown, "the adapter gave no result for a batch", effect: .unknown)
        }
        return try result.get()
    }
}
