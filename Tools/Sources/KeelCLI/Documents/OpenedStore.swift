import KeelDocumentTools
import KeelStorage

/// A store that a command has opened.
struct OpenedStore {
    let adapter: any StorageAdapter
    /// The store's indexes; nil if they cannot be listed and deleted.
    let indexes: (any IndexedStore)?
    let close: () async -> Void
}
