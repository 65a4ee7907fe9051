public import KeelStorageAdapting

/// What goes wrong with one call of a storage adapter.
public enum StorageFault: Sendable {
    /// The call fails before it reaches the adapter below.
    case failure(StorageError)
    /// The call takes effect, and its caller gets this error in place of the answer.
    case lostReply(StorageError)
    /// Of a commit, the batches at these positions fail, and the others are committed.
    ///
    /// Other calls go through.
    case failedBatches(Set<Int>, StorageError)
    /// The call takes this long on the clock, and then the other thing happens; nil is nothing.
    indirect case delay(Duration, then: StorageFault?)

    /// The call fails before it reaches the adapter below; nothing has happened.
    public static func fail(_ code: StorageError.Code = .unavailable) -> StorageFault {
        .failure(StorageError(code, "an injected fault: the call did not get through"))
    }

    /// The call takes effect and its reply is lost.
    ///
    /// The error's effect is unknown, as it is for a caller who cannot tell whether the request or
    /// the reply was lost.
    public static func loseReply(_ code: StorageError.Code = .unavailable) -> StorageFault {
        .lostReply(StorageError(code, "an injected fault: the reply was lost", effect: .unknown))
    }

    /// Of a commit, the batches at these positions fail without effect.
    public static func failBatches(
        _ positions: Set<Int>,
        _ code: StorageError.Code = .busy
    ) -> StorageFault {
        .failedBatches(positions, StorageError(code, "an injected fault: the batch was refused"))
    }

    /// The call takes this long on the clock, and goes through.
    public static func delay(_ duration: Duration) -> StorageFault {
        .delay(duration, then: nil)
    }
}

extension StorageFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: StorageFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
