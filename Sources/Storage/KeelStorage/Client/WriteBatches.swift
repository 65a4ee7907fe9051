package import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// Commits writes in as few batches as the limits allow, and stops at the first that fails.
    ///
    /// - Throws: The error of the failed batch. If earlier batches have been committed, the message contains their
    ///   number of writes, and the effect is unknown.
    package func commitInBatches(
        _ writes: [DocumentWrite],
        for operation: String,
        on resource: String
    ) async throws(StorageError) {
        var done = 0
        try await commitInBatches(writes, for: operation, on: resource, done: &done)
    }

    /// Commits writes as above, and adds the number of committed writes to `done`.
    func commitInBatches(
        _ writes: [DocumentWrite],
        for operation: String,
        on resource: String,
        done: inout Int
    ) async throws(StorageError) {
        var batches = WriteBatches(self, for: operation, on: resource)
        defer { done += batches.done }
        do throws(StorageError) {
            // An error in a late batch is found before the first one is committed.
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

/// Writes that are committed in as few batches as the limits allow, one batch at a time.
struct WriteBatches {
    /// The approximate size of a batch in bytes, small enough for one message and for other writers' waits.
    private static let maximumBytes = 4 << 20

    private let client: StorageClient
    private let operation: String
    private let resource: String
    /// One time limit for all batches together.
    private let context: StorageContext?
    private var writes: [DocumentWrite] = []
    private var bytes = 0
    /// The number of committed writes.
    private(set) var done = 0

    init(_ client: StorageClient, for operation: String, on resource: String) {
        self.client = client
        self.operation = operation
        self.resource = resource
        context = client.context
    }

    /// Adds a write, and commits the batch when it is full.
    mutating func add(_ write: DocumentWrite) async throws(StorageError) {
        let size = write.size
        if !writes.isEmpty, bytes + size > Self.maximumBytes { try await commit() }
        writes.append(write)
        bytes += size
        if writes.count == WriteValidation.mostWrites { try await commit() }
    }

    mutating func finish() async throws(StorageError) {
        if !writes.isEmpty { try await commit() }
    }

    private mutating func commit() async throws(StorageError) {
        let batch = WriteBatch(writes)
        writes.removeAll(keepingCapacity: true)
        bytes = 0
        do throws(StorageError) {
            try WriteValidation.check(batch.writes)
            // One batch at a time, so that a lost connection is waited for once.
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
    /// The approximate size of the write in bytes.
    fileprivate var size: Int {
        switch operation {
        case .set(let body, _): body.bytes.count + 400
        case .replicate(let document): document.body.bytes.count + 400
        case .update, .delete, .verify: 400
        }
    }
}

extension StorageError {
    /// Returns the error for a call that has committed `count` writes before it failed.
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
