public import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// Returns this client with a limit of time for each call.
    ///
    /// ```swift
    /// let found = try await storage.limited(to: .seconds(2)).queryDocuments(query)
    /// ```
    ///
    /// It replaces the ``Configuration/timeLimit`` of the configuration, for typed collections of the
    /// returned client too. It costs nothing to make: connections and listeners are shared. Of a
    /// sequence of documents, each page has the limit; listeners have none.
    public func limited(to limit: Duration) -> StorageClient {
        var client = self
        client.configuration.timeLimit = limit
        return client
    }

    /// Returns this client for calls on behalf of somebody else than the app itself.
    ///
    /// Adapters find the principal in the `StorageContext`. Nothing in Keel decides by it yet.
    public func acting(as principal: StoragePrincipal) -> StorageClient {
        var client = self
        client.configuration.principal = principal
        return client
    }

    /// The limits of a call that begins now; nil if it has none, and is the app's own.
    var context: StorageContext? {
        var context = StorageContext.current
        if let principal = configuration.principal { context = context.of(principal) }
        if let limit = configuration.timeLimit {
            context = context.limited(to: limit, on: configuration.clock)
        }
        return context.isUnlimited && context.principal == nil ? nil : context
    }
}
