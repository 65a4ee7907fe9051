internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// The state that the copies of an outbox share: the store, the receipts, and the signal to runners.
final class OutboxCore: Sendable {
    let client: StorageClient
    let collection: CollectionPath
    /// The outcomes of writes that have left the outbox.
    let outcomes: CollectionPath
    let configuration: Outbox.Configuration
    let signal = Signal()
    let receipts = ReceiptTable()
    /// The replies to the writes whose acceptance a runner of this process is recording, by id.
    let replies = Mutex<[String: OutboxReply]>([:])
    let changeCount = Atomic<Int>(0)
    /// The number of calls of ``Outbox/retryNow()`` in this process.
    let retryCount = Atomic<Int>(0)
    let resendCount = Atomic<Int>(0)
    private let isPrepared = Atomic<Bool>(false)

    init(_ client: StorageClient, name: String, _ configuration: Outbox.Configuration) {
        self.client = client
        // A reserved name, which the app's queries and its listing of collections omit.
        collection = CollectionPath("__outbox.\(name)__")
        outcomes = CollectionPath("__outcomes.\(name)__")
        self.configuration = configuration
    }

    var now: Timestamp { configuration.now() }
    var moment: OutboxMoment { configuration.moment }

    func ring() {
        changeCount.wrappingAdd(1, ordering: .relaxed)
        signal.raise()
    }

    func retryNow() {
        retryCount.wrappingAdd(1, ordering: .relaxed)
        ring()
    }

    func prepare() async throws(StorageError) {
        guard !isPrepared.load(ordering: .relaxed) else { return }
        let components: [IndexDefinition.Component] = [
            .ascending("status"), .ascending("at"), .ascending("position"),
        ]
        var indexes = [
            IndexDefinition(collection.string, components),
            // In a sealed store, this index does not reveal the keys.
            IndexDefinition(collection.string, [.ascending("key")], isEqualityOnly: true),
        ]
        // A runner then reads the entries of any status.
        if configuration.rejection == .holdsKey {
            indexes.append(IndexDefinition(collection.string, Array(components.dropFirst())))
        }
        do throws(StorageError) {
            try await client.adapter.prepare(StorageSchema(indexes: indexes))
        } catch {
            // No entry can be read, for example because of a wrong key. The store finds entries by scans until the next
            // start.
            guard error.code == .corrupted else { throw error }
        }
        isPrepared.store(true, ordering: .relaxed)
    }

    // MARK: Writing

    private static let lastPosition = Mutex<Int64>(0)

    /// Returns a position greater than all earlier ones of this process.
    ///
    /// It orders the writes of one commit, and those whose commit times were stored in milliseconds by an earlier
    /// version.
    func nextPosition() -> Int64 {
        let now = now.microseconds
        return Self.lastPosition.withLock { last in
            last = max(last + 1, now)
            return last
        }
    }

    func insertion(of write: OutboxWrite) throws(OutboxError) -> DocumentWrite {
        do throws(StorageError) {
            let path = collection.document(write.id)
            if let flaw = path.flaw { throw StorageError(.invalidArgument, flaw) }
            let fields = write.fields(position: nextPosition(), begun: moment)
            try DocumentValidation.check(fields, of: path)
            // The commit time keeps the order even if the clock is set back.
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

    /// Performs a commit that adds a write, under a condition that does not hold if the server has accepted it.
    ///
    /// A write that was discarded can be added again.
    ///
    /// - Returns: Whether the write was added; false if it is in the outbox, or if the server has accepted it.
    func add(
        _ id: String,
        _ commit: (_ condition: DocumentWrite) async throws(StorageError) -> Void
    ) async throws(StorageError) -> Bool {
        var condition = DocumentWrite(outcomes.document(id), .verify, if: .isMissing)
        while true {
            do throws(StorageError) {
                try await commit(condition)
                return true
            } catch {
                guard error.code == .alreadyExists || error.code == .conflict else { throw error }
                guard let next = try await conditionToAdd(id) else { return false }
                // Something else in the batch has failed.
                guard next != condition else { throw error }
                condition = next
            }
        }
    }

    /// Returns the condition under which a write can be added; nil if it is in the outbox or was accepted.
    private func conditionToAdd(_ id: String) async throws(StorageError) -> DocumentWrite? {
        let outcome = outcomes.document(id)
        var request = ReadRequest(.documents([collection.document(id), outcome]))
        request.reportsUnreadable = true
        let result = try await client.read(request, for: "enqueue")
        let isNew = DocumentWrite(outcome, .verify, if: .isMissing)
        guard case .documents(let documents) = result.payload, documents.count == 2 else {
            return isNew
        }
        guard item(documents[0], id, in: result) == nil else { return nil }
        guard let note = documents[1] else {
            let isUnreadable = result.unreadable.contains { $0.path == outcome }
            return isUnreadable ? .delete(outcome, if: .exists) : isNew
        }
        guard note["outcome"]?.stringValue == OutboxOutcome.discarded.rawValue else { return nil }
        return .delete(outcome, if: .revision(note.revision))
    }

    /// Changes an entry if it still has the revision that was read.
    ///
    /// - Returns: The new revision, or nil if the entry was changed or removed.
    func change(
        _ entry: OutboxEntry,
        _ changes: [FieldChange]
    ) async throws(StorageError) -> Revision? {
        let path = collection.document(entry.id)
        let write = DocumentWrite.update(path, changes, if: .revision(entry.revision))
        return try await commitIfUnchanged([write])?.revision
    }

    /// Removes an entry and records the outcome of its write in the same batch; returns whether the condition held.
    func remove(
        _ id: String,
        as outcome: OutboxOutcome,
        if condition: WriteCondition
    ) async throws(StorageError) -> Bool {
        try await commitIfUnchanged(removal(of: id, as: outcome, if: condition)) != nil
    }

    /// Removes the entries that exist and records the outcomes of their writes.
    ///
    /// - Returns: The ids of the removed entries. Another caller has removed the others.
    func remove(
        _ ids: some Sequence<String>,
        as outcome: OutboxOutcome
    ) async throws(StorageError) -> [String] {
        let ids = Array(ids)
        let writes = ids.flatMap { removal(of: $0, as: outcome, if: .exists) }
        if try await commitIfUnchanged(writes) != nil { return ids }
        var removed: [String] = []
        for id in ids where try await remove(id, as: outcome, if: .exists) { removed.append(id) }
        return removed
    }

    private func removal(
        of id: String,
        as outcome: OutboxOutcome,
        if condition: WriteCondition
    ) -> [DocumentWrite] {
        var fields = moment.fields
        fields["outcome"] = .string(outcome.rawValue)
        let note = DocumentWrite(
            outcomes.document(id),
            .set(DocumentBody(fields), transforms: [FieldTransform("at", .serverTimestamp)])
        )
        return [.delete(collection.document(id), if: condition), note]
    }

    /// Deletes the outcomes older than seven days.
    ///
    /// The clock may be set ahead, so for outcomes of this start of the machine, the time since the start also counts.
    func forgetOutcomes() async throws(StorageError) {
        let moment = moment
        let limit = Timestamp(microseconds: moment.wall.microseconds - Self.outcomeAge)
        // All are read, so that no index is needed for a call once an hour.
        var query = try client.check(
            DocumentQuery(outcomes).order(by: .documentID).limit(to: 500),
            for: "outbox"
        )
        while true {
            var request = ReadRequest(.query(query))
            request.reportsUnreadable = true
            let result = try await client.read(request, for: "outbox")
            guard case .found(let found) = result.payload, let last = found.last else { return }
            let old = found.filter { outcome in
                guard let time = outcome["at"]?.timestampValue, time < limit else { return false }
                guard let uptime = moment.uptime, outcome["boot"]?.stringValue == uptime.boot,
                    let begun = outcome["uptime"]?.integerValue
                else { return true }
                return uptime.time.microseconds - begun > Self.outcomeAge
            }
            if !old.isEmpty {
                // One that has changed belongs to a write that was enqueued again; the next call removes the others.
                _ = try await commitIfUnchanged(
                    old.map { .delete($0.path, if: .revision($0.revision)) }
                )
            }
            query = query.start(after: last)
        }
    }

    private static let outcomeAge: Int64 = 7 * 86_400 * 1_000_000

    private func commitIfUnchanged(
        _ writes: [DocumentWrite]
    ) async throws(StorageError) -> CommitReceipt? {
        do throws(StorageError) {
            return try await client.commitOwn(writes, for: "outbox")
        } catch {
            guard error.code == .conflict || error.code == .documentNotFound else { throw error }
            return nil
        }
    }

    // MARK: Receipts

    /// Reads the outcome of a write from the store.
    ///
    /// - Returns: The outcome, or nil if the write is pending; nil as a whole if the store fails.
    func lookUp(_ id: String) async -> OutboxReceipt.Outcome?? {
        do throws(StorageError) {
            return .some(try await outcome(of: id))
        } catch {
            return nil
        }
    }

    func lookUpAwaited() async throws(StorageError) {
        for receipt in receipts.awaited {
            let resend = receipt.resend
            if let outcome = try await outcome(of: receipt.id) {
                receipt.fulfil(outcome, since: resend)
            }
        }
    }

    /// Returns the outcome of a write, from one consistent read; nil while the write is pending.
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
        case .accepted: return .success(replies.withLock { $0[id] } ?? OutboxReply(body: nil))
        case .discarded: return .failure(OutboxError(.discarded, write: id))
        case nil: return .failure(OutboxError(.notFound, write: id))
        }
    }
}

enum OutboxOutcome: String {
    case accepted
    case discarded
}

extension OutboxError {
    init(_ error: StorageError, write: String? = nil) {
        let code: Code =
            error.isCancellation ? .cancelled : error.isTransient ? .storageUnavailable : .storage
        self.init(code, write: write, cause: error)
    }

    static func rejected(_ id: String, _ reason: String) -> OutboxError {
        OutboxError(.rejected, "\(Code.rejected.summary) \(reason)", write: id)
    }
}
