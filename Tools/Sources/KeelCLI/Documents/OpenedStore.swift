import KeelStorage

/// A store that a command has opened.
struct OpenedStore {
    /// The store's client.
    let adapter: any StorageAdapter
    /// Closes the store's connections.
    let close: () async -> Void
}
