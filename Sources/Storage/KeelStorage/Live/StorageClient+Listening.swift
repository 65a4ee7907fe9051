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

struct ListenerOutage: Sendable {
    private var failures = 0
    var maximumPause = RetryPolicy.listening.maximumDelay
    private var generator = SystemRandomNumberGenerator()

    /// Repeats an operation until it succeeds; returns nil after the first failure, where the next call continues.
    mutating func attempt<Value>(
        on clock: any Clock<Duration>,
        _ operation: () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value? {
        while true {
            if failures > 0 {
                let delay = RetryPolicy.listening.delay(before: failures, using: &generator)
                let pause = min(delay, maximumPause)
                guard (try? await clock.sleep(for: pause)) != nil else { throw .cancellation }
            }
            do throws(StorageError) {
                let value = try await operation()
                failures = 0
                return value
            } catch {
                // A store may cancel a call of its own accord.
                guard error.isTransient || error.isCancellation, !Task.isCancelled else {
                    throw error
                }
                failures += 1
                if failures == 1 { return nil }
            }
        }
    }
}

extension StorageClient {
    /// Reads a listener's base state at a position that the hub covers; `id` is nil on an adapter without a change log.
    ///
    /// - Returns: The state; nil when an outage begins, which the listener reports before it reads again.
    func readForListener(
        _ operation: ReadOperation,
        _ id: ListenerHub.ID?,
        _ outage: inout ListenerOutage,
        for name: String
    ) async throws(StorageError) -> ReadResult? {
        var request = ReadRequest(operation)
        request.needsPosition = capabilities.contains(.changeLog)
        request.isStrict = configuration.isStrict
        request.reportsUnreadable = true
        while true {
            let attempted = try await outage.attempt(on: configuration.clock) {
                [request] () async throws(StorageError) in
                try await withoutLimit { (client: StorageClient) async throws(StorageError) in
                    try await client.read(request, for: name)
                }
            }
            guard let result = attempted else { return nil }
            guard let id, let position = result.position else { return result }
            if try await hub.activate(id, at: position) { return result }
        }
    }

    /// Runs a call of a listener, which outlives the time limits of the client and of the call that began it.
    func withoutLimit<Value: Sendable>(
        _ call: @escaping @Sendable (StorageClient) async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        var client = self
        client.configuration.timeLimit = nil
        let context = StorageContext().of(StorageContext.current.principal)
        return try await context.run { [client] () async throws(StorageError) in
            try await call(client)
        }
    }

    var followsResults: Bool {
        capabilities.contains(.queryChanges) && !capabilities.contains(.changeLog)
    }

    /// Requests changes for a listener; returns nil when an outage begins.
    func changesForListener(
        _ request: ChangeRequest,
        _ outage: inout ListenerOutage,
        for name: String
    ) async throws(StorageError) -> ChangePage? {
        // A listener outlives the deadline of the call that began it.
        let context = StorageContext().of(configuration.principal)
        let (adapter, preparation) = (adapter, preparation)
        do throws(StorageError) {
            return try await outage.attempt(on: configuration.clock) {
                () async throws(StorageError) in
                try await context.run { () async throws(StorageError) in
                    try await preparation.run(on: adapter)
                    return try await adapter.changes(request)
                }
            }
        } catch {
            throw error.during(name)
        }
    }

    /// Waits until it is time to poll an adapter without a change log; returns false if the task was canceled.
    func waitForPoll() async -> Bool {
        repeat {
            let pause: Void? = try? await configuration.clock.sleep(for: configuration.pollInterval)
            guard pause != nil else { return false }
            // The past does not change, even once the history no longer reaches it.
        } while isOfThePast
        return true
    }
}
