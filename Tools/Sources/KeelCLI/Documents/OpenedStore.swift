import KeelStorage

/// A store that a command has opened.
struct OpenedStore {
    /// What the command works with.
    let adapter: any StorageAdapter
    /// Lets go of the store's connections.
    let close: () async -> Void
}
