public import KeelStorageAdapting

/// A call to a storage adapter, with its arguments.
public enum StorageCall: Sendable, Hashable {
    /// The kinds of call.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A schema was prepared.
        case prepare
        /// Documents were read.
        case read
        /// Batches were committed.
        case commit
        /// Changes were requested.
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
