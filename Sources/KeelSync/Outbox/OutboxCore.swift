internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// What the copies of an outbox share: the store, the receipts, and the bell for runners.
final class OutboxCore: Sendable {
    let client: StorageClient
    let collection: CollectionPath
    /// How writes ended that are not in the outbox any more.
    let outcomes: CollectionPath
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
        outcomes = CollectionPath("__outcomes.\(name)__")
        self.configuration = configuration
    }

    var now: Timestamp { configuration.now() }
    var moment: OutboxMoment { configuration.moment }

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
        do throws(StorageError) {
            try await client.adapter.prepare(StorageSchema(indexes: [index]))
        } catch {
            // No entry can be read, as with a wrong key. Until the next start the store finds entries
            // by scans.
            guard error.code == .corrupted else { throw error }
        }
        isPrepared.store(true, ordering: .relaxed)
    }

    // MARK: Writing

    /// The place of the last entry of this process, among those of one server time.
    private static let lastPosition = Mutex<Int64>(0)

    /// A place behind all that this process has given out.
    ///
    /// The store's times have milliseconds, in which many writes are put in. The time of day orders
    /// those of several processes.
    func nextPosition() -> Int64 {
        let now = now.microseconds
        return Self.lastPosition.withLock { last in
            last = max(last + 1, now)
            return last
        }
    }

    /// The write that puts something into the outbox.
    func insertion(of write: OutboxWrite) throws(OutboxError) -> DocumentWrite {
        do throws(StorageError) {
            let path = collection.document(write.id)
            if let flaw = path.flaw { throw StorageError(.invalidArgument, flaw) }
            let fields = write.fields(position: nextPosition())
            try DocumentValidation.check(fields, of: path)
            // Entries are sent in their order, also if the clock is set back meanwhile.
            let stamp = FieldTransform("at", .commitTime)
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

    /// Removes an entry, and notes in the same batch how its write ended.
    ///
    /// - Returns: Whether the entry was as the condition says.
    func remove(
        _ id: String,
        as outcome: OutboxOutcome,
        if condition: WriteCondition
    ) async throws(StorageError) -> Bool {
        let note = DocumentWrite(
            outcomes.document(id),
            .set(
                DocumentBody(["outcome": .string(outcome.rawValue)]),
                transforms: [FieldTransform("at", .serverTimestamp)]
            )
        )
        return try await commitIfUnchanged(
            .delete(collection.document(id), if: condition),
            note
        ) != nil
    }

    /// Forgets how writes ended that nobody can be expected to ask for any more.
    func forgetOutcomes() async throws(StorageError) {
        let limit = Timestamp(microseconds: now.microseconds - Self.outcomeAge)
        let query = try client.check(
            DocumentQuery(outcomes).where(.less("at", .timestamp(limit))).limit(to: 500),
            for: "outbox"
        )
        var request = ReadRequest(.query(query))
        request.reportsUnreadable = true
        while true {
            let result = try await client.read(request, for: "outbox")
            guard case .found(let old) = result.payload, !old.isEmpty else { return }
            _ = try await client.commitOwn(old.map { .delete($0.path) }, for: "outbox")
        }
    }

    /// How long it is known how a write ended, in microseconds: seven days.
    private static let outcomeAge: Int64 = 7 * 86_400 * 1_000_000

    private func commitIfUnchanged(
        _ writes: DocumentWrite...
    ) async throws(StorageError) -> CommitReceipt? {
        do throws(StorageError) {
            return try await client.commitOwn(writes, for: "outbox")
        } catch {
            guard error.code == .conflict || error.code == .documentNotFound else { throw error }
            return nil
        }
    }

    // MARK: Receipts

    /// Asks the store what has become of a write.
    ///
    /// - Returns: Nil while it waits, or where the store does not answer.
    func lookUp(_ id: String) async -> OutboxReceipt.Outcome? {
        guard let outcome = try? await outcome(of: id) else { return nil }
        return outcome
    }

    /// Tells those who wait for writes that somebody else has sent or given up.
    func lookUpAwaited() async throws(StorageError) {
        for receipt in receipts.awaited {
            if let outcome = try await outcome(of: receipt.id) { receipt.fulfil(outcome) }
        }
    }

    /// The outcome of a write, read at one moment; nil while the write waits.
    private func outcome(of id: String) async throws(StorageError) -> OutboxReceipt.Outcome? {
        var request = ReadRequest(.documents([collection.document(id), outcomes.document(id)]))
        request.reportsUnreadable = true
        let result = try await client.read(request, for: "outbox")
        guard case .documents(let documents) = result.payload else { return nil }
        switch item(documents.first ?? nil, id, in: result) {
        case .entry(let entry):
            return entry.isRejected ? .failure(.rejected(id, entry.lastFailure ?? "")) : nil
        case .damaged(let damaged):
            return .failure(OutboxError(.damaged, write: id, cause: damaged.error))
        case nil: break
        }
        let name = documents.last.flatMap { $0?["outcome"]?.stringValue }
        switch name.flatMap(OutboxOutcome.init) {
        case .accepted: return .success(OutboxReply(body: nil))
        case .discarded: return .failure(OutboxError(.discarded, write: id))
        case nil: return .failure(OutboxError(.notFound, write: id))
        }
    }
}

/// How a write ended that is not in the outbox any more.
enum OutboxOutcome: String {
    case accepted
    case discarded
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
