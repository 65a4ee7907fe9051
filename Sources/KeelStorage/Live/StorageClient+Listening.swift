internal import KeelCore
internal import KeelDocuments
internal import KeelStorageAdapting

extension RetryPolicy {
    /// The pauses of what listens: it goes on until it is cancelled, whatever passes meanwhile.
    static let listening = RetryPolicy(
        attempts: .max,
        baseDelay: .milliseconds(100),
        maximumDelay: .seconds(30)
    )
}

extension StorageClient {
    /// Reads what a listener goes on from, at a position that the hub covers.
    ///
    /// A failure that may pass is waited out, and so never ends listening. A document that cannot be
    /// read is in the answer's `ReadResult/unreadable` and does not hide the others.
    ///
    /// - Parameters:
    ///   - operation: The question.
    ///   - id: The listener's mailbox; nil on an adapter without a change log.
    ///   - name: The operation that errors name.
    /// - Returns: The answer.
    /// - Throws: What repeating does not mend, or the last failure if the task is cancelled.
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

    /// Waits until an adapter without a change log is to be asked again.
    ///
    /// - Returns: Whether it is; false when the task was cancelled.
    func waitForPoll() async -> Bool {
        repeat {
            let pause: Void? = try? await configuration.clock.sleep(for: configuration.pollInterval)
            guard pause != nil else { return false }
            // What is past stays as it was, also once the history has forgotten it.
        } while isOfThePast
        return true
    }
}
