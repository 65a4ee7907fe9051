package import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// Commits writes in as few batches as the limits allow, and stops at the first that fails.
    ///
    /// - Throws: The error of that batch; where others have been committed, their number is in its
    ///   message and its effect is unknown.
    package func commitInBatches(
        _ writes: [DocumentWrite],
        for operation: String,
        on resource: String
    ) async throws(StorageError) {
        var done = 0
        try await commitInBatches(writes, for: operation, on: resource, done: &done)
    }

    /// Commits writes likewise, and counts those that have been committed.
    func commitInBatches(
        _ writes: [DocumentWrite],
        for operation: String,
        on resource: String,
        done: inout Int
    ) async throws(StorageError) {
        var batches = WriteBatches(self, for: operation, on: resource)
        defer { done += batches.done }
        do throws(StorageError) {
            // What is wrong in a late batch is known before the first one is committed.
            for start in stride(from: 0, to: writes.count, by: WriteValidation.mostWrites) {
                let end = min(start + WriteValidation.mostWrites, writes.count)
                try WriteValidation.check(Array(writes[start..<end]))
            }
        } catch {
            throw error.after(done).during(operation, on: resource)
        }
        for write in writes { try await batches.add(write) }
        try await batches.finish()
    }
}

/// Writes that are committed in as few batches as the limits allow, one after the other.
struct WriteBatches {
    /// About how many bytes of documents a batch has: no other writer waits long, and it is one message.
    private static let mostBytes = 4 << 20

    private let client: StorageClient
    private let operation: String
    private let resource: String
    /// One limit for all batches together.
    private let context: StorageContext?
    private var writes: [DocumentWrite] = []
    private var bytes = 0
    /// How many writes have been committed.
    private(set) var done = 0

    init(_ client: StorageClient, for operation: String, on resource: String) {
        self.client = client
        self.operation = operation
        self.resource = resource
        context = client.context
    }

    /// Adds a write, and commits the batch that is full with it.
    mutating func add(_ write: DocumentWrite) async throws(StorageError) {
        let size = write.size
        if !writes.isEmpty, bytes + size > Self.mostBytes { try await commit() }
        writes.append(write)
        bytes += size
        if writes.count == WriteValidation.mostWrites { try await commit() }
    }

    /// Commits what is left.
    mutating func finish() async throws(StorageError) {
        if !writes.isEmpty { try await commit() }
    }

    private mutating func commit() async throws(StorageError) {
        let batch = WriteBatch(writes)
        writes.removeAll(keepingCapacity: true)
        bytes = 0
        do throws(StorageError) {
            try WriteValidation.check(batch.writes)
            // One call after the other, so that a lost connection is waited for once.
            if let context {
                _ = try await context.run { [client] () async throws(StorageError) in
                    try await client.apply(batch)
                }
            } else {
                _ = try await client.apply(batch)
            }
            done += batch.writes.count
        } catch {
            throw error.after(done).during(operation, on: resource)
        }
    }
}

extension DocumentWrite {
    /// About how many bytes the write takes.
    fileprivate var size: Int {
        switch operation {
        case .set(let body, _): body.bytes.count + 400
        case .replicate(let document): document.body.bytes.count + 400
        case .update, .delete, .verify: 400
        }
    }
}

extension StorageError {
    /// The error of a call of which so many writes have taken effect.
    func after(_ count: Int) -> StorageError {
        guard count > 0 else { return self }
        return StorageError(
            code,
            "after \(count) writes had been committed: \(message)",
            effect: .unknown,
            operation: operation,
            resource: resource,
            cause: cause
        )
    }
}
