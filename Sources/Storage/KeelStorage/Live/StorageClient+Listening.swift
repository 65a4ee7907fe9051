package import KeelCore
internal import KeelDocuments
internal import KeelStorageAdapting

extension RetryPolicy {
    /// The policy of listeners, which retry until they are canceled.
    package static let listening = RetryPolicy(
        attempts: .max,
        baseDelay: .milliseconds(100),
        maximumDelay: .seconds(30)
    )
}

extension StorageClient {
    /// Reads a listener's base state at a position that the hub covers; `id` is nil on an adapter without a change
    /// log.
    ///
    /// Transient failures are retried and never end listening. A document that cannot be read is in
    /// `ReadResult/unreadable` and does not hide the others.
    ///
    /// - Throws: An error that a retry cannot fix, or the last failure if the task is canceled.
    func readForListener(
        _ operation: ReadOperation,
        _ id: ListenerHub.ID?,
        for name: String
    ) async throws(StorageError) -> ReadResult {
        var request = ReadRequest(operation)
        request.needsPosition = capabilities.contains(.changeLog)
        request.isStrict = configuration.isStrict
        request.reportsUnreadable = true
        while true {
            let result = try await withRetry(.listening, clock: configuration.clock) {
                _ async throws(StorageError) in try await read(request, for: name)
            }
            guard let id, let position = result.position else { return result }
            if try await hub.activate(id, at: position) { return result }
        }
    }

    /// Whether listeners have the adapter follow queries and documents, in place of a change log.
    var followsResults: Bool {
        capabilities.contains(.queryChanges) && !capabilities.contains(.changeLog)
    }

    /// Requests changes for a listener, and retries transient failures until the task is canceled.
    func changesForListener(
        _ request: ChangeRequest,
        for name: String
    ) async throws(StorageError) -> ChangePage {
        // A listener outlives the deadline of the call that began it.
        let context = StorageContext().of(configuration.principal)
        let (adapter, preparation) = (adapter, preparation)
        do throws(StorageError) {
            return try await withRetry(.listening, clock: configuration.clock) {
                _ async throws(StorageError) in
                try await context.run { () async throws(StorageError) in
                    try await preparation.run(on: adapter)
                    return try await adapter.changes(request)
                }
            }
        } catch {
            throw error.during(name)
        }
    }

    /// Waits until it is time to poll an adapter without a change log.
    ///
    /// - Returns: False if the task was canceled.
    func waitForPoll() async -> Bool {
        repeat {
            let pause: Void? = try? await configuration.clock.sleep(for: configuration.pollInterval)
            guard pause != nil else { return false }
            // The past does not change, even once the history no longer reaches it.
        } while isOfThePast
        return true
    }
}
