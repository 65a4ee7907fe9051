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

/// A fault in one call to a storage adapter.
public enum StorageFault: Sendable {
    /// The call fails before it reaches the adapter below.
    case failure(StorageError)
    /// The call takes effect, but the caller gets this error.
    case lostReply(StorageError)
    /// The batches of a commit at these positions fail, and the others are committed.
    ///
    /// Other calls get through.
    case failedBatches(Set<Int>, StorageError)
    /// The call is delayed on the clock, then the other fault applies; nil lets it through.
    indirect case delay(Duration, then: StorageFault?)

    /// Fails the call before it reaches the adapter below.
    public static func fail(_ code: StorageError.Code = .unavailable) -> StorageFault {
        .failure(StorageError(code, "an injected fault: the call did not get through"))
    }

    /// Lets the call take effect and loses its reply, with the effect `unknown`.
    public static func loseReply(_ code: StorageError.Code = .unavailable) -> StorageFault {
        .lostReply(StorageError(code, "an injected fault: the reply was lost", effect: .unknown))
    }

    /// Fails the batches of a commit at these positions; the others are committed.
    public static func failBatches(
        _ positions: Set<Int>,
        _ code: StorageError.Code = .busy
    ) -> StorageFault {
        .failedBatches(positions, StorageError(code, "an injected fault: the batch was refused"))
    }

    /// Delays the call on the clock, then lets it through.
    public static func delay(_ duration: Duration) -> StorageFault {
        .delay(duration, then: nil)
    }
}

extension StorageFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: StorageFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
