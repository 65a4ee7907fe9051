package import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// Commits writes in as few batches as the limits allow, several at a time, and stops after one that fails.
    ///
    /// - Throws: The error of the first failed batch. If others have been committed, the message contains the number of
    ///   their writes, and the effect is unknown.
    package func commitInBatches(
        _ writes: [DocumentWrite],
        for operation: String,
        on resource: String
    ) async throws(StorageError) {
        var done = 0
        try await commitInBatches(writes, for: operation, on: resource, done: &done)
    }

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

/// Writes that are committed in as few batches as the limits allow, several batches with each call of the adapter,
/// because SQLite writes a whole call in one transaction.
struct WriteBatches {
    /// The approximate size of a batch in bytes, small enough for one message.
    private static let maximumBytes = 4 << 20
    /// The limits of one call, small enough for other writers' waits.
    private static let mostBatches = 10
    private static let maximumCallBytes = 8 << 20

    private let client: StorageClient
    private let operation: String
    private let resource: String
    /// Of all batches, which are for one user.
    private let context: StorageContext
    private var full: [WriteBatch] = []
    private var fullBytes = 0
    private var writes: [DocumentWrite] = []
    private var bytes = 0
    private(set) var done = 0

    init(_ client: StorageClient, for operation: String, on resource: String) {
        self.client = client
        self.operation = operation
        self.resource = resource
        context = (client.context ?? .current).repeated()
    }

    mutating func add(_ write: DocumentWrite) async throws(StorageError) {
        let size = write.size
        if !writes.isEmpty, bytes + size > Self.maximumBytes { try await close() }
        writes.append(write)
        bytes += size
        if writes.count == WriteValidation.mostWrites { try await close() }
    }

    mutating func finish() async throws(StorageError) {
        if !writes.isEmpty { try await close() }
        if !full.isEmpty { try await commit() }
    }

    private mutating func close() async throws(StorageError) {
        do throws(StorageError) { try WriteValidation.check(writes) } catch {
            throw error.after(done).during(operation, on: resource)
        }
        full.append(WriteBatch(writes))
        fullBytes += bytes
        writes.removeAll(keepingCapacity: true)
        bytes = 0
        // The next batch must still fit.
        if full.count == Self.mostBatches || fullBytes + Self.maximumBytes > Self.maximumCallBytes {
            try await commit()
        }
    }

    private mutating func commit() async throws(StorageError) {
        let batches = full
        full.removeAll(keepingCapacity: true)
        fullBytes = 0
        do throws(StorageError) {
            let results = try await context.run { [client] () async throws(StorageError) in
                try await client.apply(batches)
            }
            var failure: StorageError?
            for (batch, result) in zip(batches, results) {
                switch result {
                case .success: done += batch.writes.count
                case .failure(let error): failure = failure ?? error
                }
            }
            if let failure { throw failure }
        } catch {
            throw error.after(done).during(operation, on: resource)
        }
    }
}

extension DocumentWrite {
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
