public import KeelStorageAdapting

/// One call of a storage adapter, with its arguments.
public enum StorageCall: Sendable, Hashable {
    /// The kinds of call.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A schema was to be made ready.
        case prepare
        /// Something was to be read.
        case read
        /// Batches were to be committed.
        case commit
        /// Changes were asked for.
        case changes
    }

    /// `prepare(_:)`
    case prepare(StorageSchema)
    /// `read(_:)`
    case read(ReadRequest)
    /// `commit(_:)`
    case commit([WriteBatch])
    /// `changes(_:)`
    case changes(ChangeRequest)

    /// The kind of call.
    public var kind: Kind {
        switch self {
        case .prepare: .prepare
        case .read: .read
        case .commit: .commit
        case .changes: .changes
        }
    }
}
