internal import KeelCore
internal import KeelStorage
internal import Synchronization

/// What the copies of an outbox share: the store, the receipts, and the bell for runners.
final class OutboxCore: Sendable {
    let client: StorageClient
    let collection: CollectionPath
    let configuration: Outbox.Configuration
    /// Raised when a runner should look again.
    let signal = Signal()
    let receipts = ReceiptTable()
    /// How often entries were added or changed here.
    let changeCount = Atomic<Int>(0)
    private let isPrepared = Atomic<Bool>(false)

    init(_ client: StorageClient, name: String, _ configuration: Outbox.Configuration) {
        self.client = client
        // A reserved name: the app's queries and its listing of collections do not meet it.
        collection = CollectionPath("__outbox.\(name)__")
        self.configuration = configuration
    }

    var now: Timestamp { configuration.now() }

    /// Says that entries were added or changed.
    func ring() {
        changeCount.wrappingAdd(1, ordering: .relaxed)
        signal.raise()
    }

    /// Sees to the index that the order of entries needs.
    func prepare() async throws(StorageError) {
        guard !isPrepared.load(ordering: .relaxed) else { return }
        let components: [IndexDefinition.Component] = [
            .ascending("status"), .ascending("at"), .ascending("position"),
        ]
        let index = IndexDefinition(collection.string, components)
        try await client.adapter.prepare(StorageSchema(indexes: [index]))
        isPrepared.store(true, ordering: .relaxed)
    }

    // MARK: Reading

    /// Returns entries in the order in which they were put in.
    func entries(
        _ status: String,
        after last: OutboxEntry? = nil,
        limit: Int
    ) async throws(StorageError) -> [OutboxEntry] {
        try await prepare()
        var query = DocumentQuery(collection).where(.equal("status", .string(status)))
            .order(by: "at").order(by: "position").limit(to: limit)
        if let last {
            query = query.start(
                after: .timestamp(last.enqueuedAt),
                .integer(last.position),
                .reference(DocumentPath(collection, last.id))
            ).order(by: .documentID)
        }
        let checked = try client.check(query, for: "outbox")
        let result = try await client.read(ReadRequest(.query(checked)), for: "outbox")
        guard case .found(let documents) = result.payload else { return [] }
        let now = now
        return try documents.map { document throws(StorageError) in
            try OutboxEntry(document, now: now)
        }
    }

    func allEntries(_ status: String) async throws(StorageError) -> [OutboxEntry] {
        var all: [OutboxEntry] = []
        while true {
            let page = try await entries(status, after: all.last, limit: 500)
            all += page
            guard page.count == 500 else { return all }
        }
    }

    func entry(_ id: String) async throws(StorageError) -> OutboxEntry? {
        try await self.entries(withIDs: [id]).first ?? nil
    }

    func entries(withIDs ids: [String]) async throws(StorageError) -> [OutboxEntry?] {
        let request = ReadRequest(.documents(ids.map(collection.document)))
        let result = try await client.read(request, for: "outbox")
        guard case .documents(let documents) = result.payload else { return [] }
        let now = now
        return try documents.map { document throws(StorageError) in
            try document.map { document throws(StorageError) in
                try OutboxEntry(document, now: now)
            }
        }
    }

    // MARK: Writing

    /// The write that puts something into the outbox.
    func insertion(of write: OutboxWrite, position: Int) throws(OutboxError) -> DocumentWrite {
        do throws(StorageError) {
            let path = collection.document(write.id)
            if let flaw = path.flaw { throw StorageError(.invalidArgument, flaw) }
            let fields = write.fields(position: position)
            try DocumentValidation.check(fields, of: path)
            let stamp = FieldTransform("at", .serverTimestamp)
            return DocumentWrite(
                path,
                .set(DocumentBody(fields), transforms: [stamp]),
                if: .isMissing
            )
        } catch {
            throw OutboxError(error, write: write.id)
        }
    }

    /// Changes an entry that is as it was read.
    ///
    /// - Returns: Its new revision, or nil if it has changed or gone meanwhile.
    func change(
        _ entry: OutboxEntry,
        _ changes: [FieldChange]
    ) async throws(StorageError) -> Revision? {
        let path = collection.document(entry.id)
        let write = DocumentWrite.update(path, changes, if: .revision(entry.revision))
        return try await commitIfUnchanged(write)?.revision
    }

    /// Removes an entry that is as it was read.
    ///
    /// - Returns: Whether it was.
    func remove(_ entry: OutboxEntry) async throws(StorageError) -> Bool {
        let path = collection.document(entry.id)
        let write = DocumentWrite.delete(path, if: .revision(entry.revision))
        return try await commitIfUnchanged(write) != nil
    }

    private func commitIfUnchanged(
        _ write: DocumentWrite
    ) async throws(StorageError) -> CommitReceipt? {
        do throws(StorageError) {
            return try await client.commitOwn([write], for: "outbox")
        } catch {
            guard error.code == .conflict || error.code == .documentNotFound else { throw error }
            return nil
        }
    }

    // MARK: Receipts

    /// Tells a receipt what the store knows of its write.
    func lookUp(_ receipt: OutboxReceipt) async {
        guard let found = try? await entries(withIDs: [receipt.id]) else { return }
        tell(receipt, found.first ?? nil)
    }

    /// Tells those who wait for writes that somebody else has sent or given up.
    func lookUpAwaited() async throws(StorageError) {
        let receipts = receipts.awaited
        guard !receipts.isEmpty else { return }
        // As many documents as one read should ask for.
        for receipt in receipts.prefix(500) {
            tell(receipt, try await entry(receipt.id))
        }
    }

    private func tell(_ receipt: OutboxReceipt, _ entry: OutboxEntry?) {
        guard let entry else {
            receipt.fulfil(.success(OutboxReply(body: nil)))
            return
        }
        if entry.isRejected {
            receipt.fulfil(.failure(.rejected(entry.id, entry.lastFailure ?? "")))
        }
    }
}

extension OutboxError {
    /// Says what a failure of the store means to a caller of the outbox.
    init(_ error: StorageError, write: String? = nil) {
        let code: Code =
            error.isCancellation ? .cancelled : error.isTransient ? .storageUnavailable : .storage
        self.init(code, write: write, cause: error)
    }

    static func rejected(_ id: String, _ reason: String) -> OutboxError {
        OutboxError(.rejected, "\(Code.rejected.summary) \(reason)", write: id)
    }
}
