internal import KeelStorageAdapting

extension StorageClient {
    /// Returns a read-only client whose reads can return a stale state.
    ///
    /// ```swift
    /// let recent = storage.allowingStaleness(of: .seconds(10))
    /// let top = try await recent.queryDocuments(query)
    /// ```
    ///
    /// A store with replicas can then answer from a replica, for up to `duration` even if the primary fails.
    /// `PostgreSQLStorageAdapter` does so if its URL names standbys; other adapters return the current state.
    ///
    /// A read returns a state that was current at most `duration` before the read began. It can lack your own last
    /// commits, and be earlier than that of the previous read. Writes and transactions throw
    /// `StorageError/Code/readOnly`. Listeners poll the store every ``Configuration/pollInterval``.
    ///
    /// - Parameter duration: The maximum age of the state.
    /// - Returns: The client.
    public func allowingStaleness(of duration: Duration) -> StorageClient {
        StorageClient(
            StorageView(upstream: adapter, kind: .stale(duration)),
            configuration: configuration,
            preparation: preparation
        )
    }
}
