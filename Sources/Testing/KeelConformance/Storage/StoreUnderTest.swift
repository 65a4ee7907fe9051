import KeelStorage
internal import KeelStorageAdapting
import Testing

/// An adapter, a client of it, and a collection that only one check uses.
struct StoreUnderTest: Sendable {
    let adapter: any StorageAdapter
    let client: StorageClient
    /// The name of the check's collection, which is new in every run.
    let name: String

    init(_ adapter: some StorageAdapter, named name: String = "c" + DocumentPath.randomID()) {
        self.init(adapter, client: StorageClient(adapter), named: name)
    }

    init(_ adapter: any StorageAdapter, client: StorageClient, named name: String) {
        self.adapter = adapter
        self.client = client
        self.name = name
    }

    var collection: CollectionPath { CollectionPath(name) }
    var query: DocumentQuery { DocumentQuery(collection) }

    func path(_ id: String = "d") -> DocumentPath { collection.document(id) }

    // MARK: Writing

    @discardableResult
    func set(_ fields: DocumentFields, _ id: String = "d") async throws -> CommitReceipt {
        try await client.setDocument(path(id), fields)
    }

    @discardableResult
    func update(_ id: String = "d", _ changes: FieldChange...) async throws -> CommitReceipt {
        try await client.updateDocument(path(id), changes)
    }

    @discardableResult
    func transform(
        _ field: FieldPath,
        _ operation: FieldTransform.Operation
    ) async throws -> [DocumentValue] {
        let receipt = try await update("d", FieldChange(field, .transform(operation)))
        return try #require(receipt.outcomes.first).transformResults
    }

    func fill(_ documents: KeyValuePairs<String, DocumentFields>) async throws {
        try await fill(all: documents.map { ($0.key, $0.value) })
    }

    func fill(all documents: [(id: String, fields: DocumentFields)]) async throws {
        var rest = documents[...]
        while !rest.isEmpty {
            let writes = try rest.prefix(400).map {
                try DocumentWrite.set($0.fields, at: path($0.id))
            }
            try await client.commit(writes)
            rest = rest.dropFirst(400)
        }
    }

    @discardableResult
    func commit(
        id: String? = nil,
        _ writes: DocumentWrite...,
        reads: TransactionReads? = nil
    ) async throws -> CommitReceipt {
        let results = try await adapter.commit([WriteBatch(id: id, writes, reads: reads)])
        #expect(results.count == 1)
        return try #require(results.first).get()
    }

    // MARK: Reading

    func document(_ id: String = "d") async throws -> Document {
        try await client.getDocument(path(id))
    }

    func fields(_ id: String = "d") async throws -> DocumentFields? {
        try await client.findDocument(path(id))?.fields()
    }

    func ids(_ query: DocumentQuery) async throws -> [String] {
        try await client.queryDocuments(query).map(\.id)
    }

    func ids(where filter: DocumentFilter) async throws -> [String] {
        try await ids(query.where(filter)).sorted()
    }

    /// Returns the store's current position, as reported by a read.
    func position() async throws -> ChangeCursor {
        var request = ReadRequest(.documents([path()]))
        request.needsPosition = true
        return try #require(try await adapter.read(request).position, "the read gave no position")
    }

    // MARK: Failing

    /// Expects that a call fails with a code and reports no effect.
    @discardableResult
    func expect(
        _ code: StorageError.Code,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async -> StorageError? {
        do {
            try await body()
            Issue.record("expected \(code), nothing was thrown", sourceLocation: sourceLocation)
        } catch let error as StorageError {
            #expect(error.code == code, sourceLocation: sourceLocation)
            #expect(error.effect == .none, sourceLocation: sourceLocation)
            return error
        } catch {
            Issue.record(error, "expected \(code)", sourceLocation: sourceLocation)
        }
        return nil
    }
}

extension FieldChange {
    static func put(_ field: FieldPath, _ value: DocumentValue) -> Self {
        Self(field, .set(value))
    }

    static func compute(_ field: FieldPath, _ operation: FieldTransform.Operation) -> Self {
        Self(field, .transform(operation))
    }
}
