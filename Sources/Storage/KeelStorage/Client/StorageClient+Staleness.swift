internal import KeelStorageAdapting

extension StorageClient {
    /// Returns a client whose reads may be answered from a state of a short time ago, and which cannot write.
    ///
    /// ```swift
    /// let recent = storage.allowingStaleness(of: .seconds(10))
    /// let top = try await recent.queryDocuments(query)
    /// ```
    ///
    /// A store with replicas can then answer from one of them, which relieves the primary, and still answer while
    /// the primary is down, for at most the duration: `PostgreSQLStorageAdapter` does if its URL names standbys. Other
    /// adapters answer from the current state.
    ///
    /// Documents, queries, aggregations and collection names come from a state that was current no longer than the
    /// duration before the read began. They need not include your own last commits, and a read may see an earlier state
    /// than the one before it. Writes throw `StorageError/Code/readOnly`; read in transactions of the original client.
    /// A listener polls.
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
