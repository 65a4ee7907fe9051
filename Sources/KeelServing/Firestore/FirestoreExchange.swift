import HTTPTypes
import KeelStorage
import KeelStorageFirestore

/// One request of Firestore's protocol, and what it takes to answer it.
///
/// The methods of the protocol are extensions of it. Each returns the body of the reply; an error
/// becomes the reply that the protocol has for it.
struct FirestoreExchange {
    let adapter: any StorageAdapter
    let transactions: TransactionTable
    let configuration: StorageServer.Configuration
    let items: RequestItems
    let body: FirestoreJSON
    let decoding: FirestoreDecoding
    let encoding: FirestoreEncoding

    init(
        adapter: any StorageAdapter,
        transactions: TransactionTable,
        configuration: StorageServer.Configuration,
        database: String,
        isExtended: Bool,
        items: RequestItems,
        body: FirestoreJSON
    ) {
        self.adapter = adapter
        self.transactions = transactions
        self.configuration = configuration
        self.items = items
        self.body = body
        decoding = FirestoreDecoding(database: database, isExtended: isExtended)
        encoding = FirestoreEncoding(database: database, isExtended: isExtended)
    }

    /// What the names of a request may be.
    var reserved: ReservedNames { ReservedNames(allowsOwn: decoding.isExtended) }

    /// Answers a request of a method that the route takes.
    func answer(
        _ route: FirestoreRoute,
        _ method: HTTPRequest.Method
    ) async throws(StorageError) -> [UInt8] {
        guard body.members != nil else {
            throw FirestoreDecoding.flaw("the request is \(body.kindName) and should be an object")
        }
        switch route {
        case .document(let segments):
            let path = DocumentPath(segments: segments)
            try reserved.check(path)
            switch method {
            case .patch: return try await patchDocument(path)
            case .delete: return try await deleteDocument(path)
            default: return try await getDocument(path)
            }
        case .collection(let segments):
            let collection = CollectionPath(segments: segments)
            try reserved.check(collection)
            return method == .post
                ? try await createDocument(in: collection)
                : try await listDocuments(of: collection)
        case .call(let call, let segments):
            try items.check()
            return try await answer(call, on: try parent(segments))
        }
    }

    private func answer(
        _ call: FirestoreRoute.Call,
        on parent: DocumentPath?
    ) async throws(StorageError) -> [UInt8] {
        switch call {
        case .batchGet: return try await batchGet()
        case .batchWrite: return try await batchWrite()
        case .beginTransaction: return try beginTransaction()
        case .commit: return try await commit()
        case .listCollectionIds: return try await listCollectionIDs(under: parent)
        case .partitionQuery: return try await partitionQuery(under: parent)
        case .rollback: return try rollback()
        case .runAggregationQuery: return try await runAggregationQuery(under: parent)
        case .runQuery: return try await runQuery(under: parent)
        case .listen, .write:
            throw StorageError(
                .unsupported,
                "“\(call.rawValue)” has no form over REST; changes are told under /sync/all/events"
            )
        }
    }

    private func parent(_ segments: [String]) throws(StorageError) -> DocumentPath? {
        guard !segments.isEmpty else { return nil }
        let path = DocumentPath(segments: segments)
        try reserved.check(path)
        return path
    }

    /// Refuses what the store does not offer.
    func require(
        _ needed: StorageCapabilities,
        for purpose: String
    ) throws(StorageError) {
        let missing = needed.subtracting(adapter.capabilities)
        guard missing.isEmpty else {
            throw StorageError(.unsupported, "\(purpose) needs a store that offers \(missing)")
        }
    }

    /// Refuses a request that names another database than its path does.
    func checkDatabase() throws(StorageError) {
        guard let name = try body.text("database"), name != decoding.database else { return }
        throw FirestoreDecoding.flaw("“\(name)” is not the database of the request’s path")
    }
}
