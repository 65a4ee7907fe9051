internal import HTTPTypes
internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore

/// A request of Firestore's protocol.
///
/// Extensions implement the methods of the protocol. Each returns the body of the reply, which is streamed if it may be
/// long.
struct FirestoreExchange {
    let adapter: any StorageAdapter
    /// The limits of the request and of the reads of its reply.
    let context: StorageContext
    let transactions: TransactionTable
    let caller: CallerID?
    let configuration: StorageServer.Configuration
    let items: RequestItems
    let body: FirestoreJSON
    let decoding: FirestoreDecoding
    let encoding: FirestoreEncoding

    init(
        adapter: any StorageAdapter,
        context: StorageContext,
        transactions: TransactionTable,
        caller: CallerID?,
        configuration: StorageServer.Configuration,
        database: String,
        isExtended: Bool,
        items: RequestItems,
        body: FirestoreJSON
    ) {
        self.adapter = adapter
        self.context = context
        self.transactions = transactions
        self.caller = caller
        self.configuration = configuration
        self.items = items
        self.body = body
        decoding = FirestoreDecoding(database: database, isExtended: isExtended)
        encoding = FirestoreEncoding(database: database, isExtended: isExtended)
    }

    var reserved: ReservedNames { ReservedNames(allowsOwn: decoding.isExtended) }

    func answer(
        _ route: FirestoreRoute,
        _ method: HTTPRequest.Method
    ) async throws(StorageError) -> ReplyBody {
        guard body.members != nil else {
            throw FirestoreDecoding.flaw("the request is \(body.kindName) and should be an object")
        }
        do throws(StorageError) {
            return try await answerOnce(route, method)
        } catch {
            guard error.operation == TransactionTable.overtaken else { throw error }
        }
        // Another read of the transaction has been recorded. Those that it has overtaken are repeated one after the
        // other, because together they would overtake each other again.
        let token = try body.text("transaction") ?? items["transaction"] ?? ""
        return try await transactions.turns.take(in: token) { () async throws(StorageError) in
            try await answerAgain(route, method)
        }
    }

    private func answerAgain(
        _ route: FirestoreRoute,
        _ method: HTTPRequest.Method
    ) async throws(StorageError) -> ReplyBody {
        var attempts = 10
        while true {
            do throws(StorageError) {
                return try await answerOnce(route, method)
            } catch {
                // New reads, and those of other servers, can overtake it.
                guard error.operation == TransactionTable.overtaken else { throw error }
                attempts -= 1
                guard attempts > 0 else { throw TransactionTable.conflict(error) }
            }
        }
    }

    private func answerOnce(
        _ route: FirestoreRoute,
        _ method: HTTPRequest.Method
    ) async throws(StorageError) -> ReplyBody {
        switch route {
        case .document(let segments):
            let path = DocumentPath(segments: segments)
            try reserved.check(path)
            switch method {
            case .patch:
                try MessageShape.document.check(body)
                return .whole(try await patchDocument(path))
            case .delete: return .whole(try await deleteDocument(path))
            default: return .whole(try await getDocument(path))
            }
        case .collection(let segments):
            let collection = CollectionPath(segments: segments)
            try reserved.check(collection)
            guard method == .post else { return try await listDocuments(of: collection) }
            try MessageShape.document.check(body)
            return .whole(try await createDocument(in: collection))
        case .call(let call, let segments):
            try items.check()
            try MessageShape.request(of: call).check(body)
            return try await answer(call, on: try parent(segments))
        }
    }

    private func answer(
        _ call: FirestoreRoute.Call,
        on parent: DocumentPath?
    ) async throws(StorageError) -> ReplyBody {
        switch call {
        case .batchGet: return try await batchGet()
        case .batchWrite: return .whole(try await batchWrite())
        case .beginTransaction: return .whole(try await beginTransaction())
        case .commit: return .whole(try await commit())
        case .listCollectionIds: return .whole(try await listCollectionIDs(under: parent))
        case .partitionQuery: return .whole(try await partitionQuery(under: parent))
        case .rollback: return .whole(try await rollback())
        case .runAggregationQuery:
            return .whole(try await runAggregationQuery(under: parent))
        case .runQuery: return try await runQuery(under: parent)
        case .executePipeline:
            throw StorageError(.unsupported, "pipelines are not available; use “runQuery”")
        case .listen, .write:
            throw StorageError(
                .unsupported,
                "“\(call.rawValue)” is not available over REST; changes are at /sync/all/events"
            )
        }
    }

    private func parent(_ segments: [String]) throws(StorageError) -> DocumentPath? {
        guard !segments.isEmpty else { return nil }
        let path = DocumentPath(segments: segments)
        try reserved.check(path)
        return path
    }

    /// Rejects operations that the store does not support.
    func require(
        _ needed: StorageCapabilities,
        for purpose: String
    ) throws(StorageError) {
        let missing = needed.subtracting(adapter.capabilities)
        guard missing.isEmpty else {
            throw StorageError(.unsupported, "\(purpose) needs a store that offers \(missing)")
        }
    }

    /// Rejects a request whose message and path name different databases.
    func checkDatabase() throws(StorageError) {
        guard let name = try body.text("database"), name != decoding.database else { return }
        throw FirestoreDecoding.flaw("“\(name)” is not the database of the request’s path")
    }
}

extension FirestoreExchange {
    /// Returns the capabilities of the store, after preparing it for a declared schema.
    func schema(isDeclared: Bool) async throws(StorageError) -> [UInt8] {
        try items.check()
        if isDeclared {
            guard decoding.isExtended else {
                throw FirestoreDecoding.flaw(
                    "a schema is declared with the header Keel-Protocol: 1"
                )
            }
            let schema = try decoding.schema(body)
            try schema.check()
            try await adapter.prepare(schema)
        }
        let names = adapter.capabilities.description.split(separator: ", ")
        return FirestoreJSON.object([
            .init("capabilities", .array(names.map { .string(String($0)) }))
        ]).bytes
    }
}
