public import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// Returns this client with a time limit for each call.
    ///
    /// ```swift
    /// let found = try await storage.limited(to: .seconds(2)).queryDocuments(query)
    /// ```
    ///
    /// The limit replaces ``Configuration/timeLimit``, including for typed collections of the returned client. The
    /// copy is cheap: it shares connections and listeners. For a sequence of documents, the limit applies to each
    /// page; listeners have none.
    public func limited(to limit: Duration) -> StorageClient {
        var client = self
        client.configuration.timeLimit = limit
        return client
    }

    /// Returns this client for calls on behalf of a principal other than the app itself.
    ///
    /// Adapters find the principal in the `StorageContext`. Nothing in Keel makes decisions by it yet.
    public func acting(as principal: StoragePrincipal) -> StorageClient {
        var client = self
        client.configuration.principal = principal
        return client
    }

    /// The context of a call that begins now; nil if it has neither a time limit nor a principal.
    var context: StorageContext? {
        var context = StorageContext.current
        if let principal = configuration.principal { context = context.of(principal) }
        if let limit = configuration.timeLimit {
            context = context.limited(to: limit, on: configuration.clock)
        }
        return context.isUnlimited && context.principal == nil ? nil : context
    }
}
