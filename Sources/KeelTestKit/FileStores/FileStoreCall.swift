public import KeelFiles

/// One call of a file store, as doubles remember it.
public enum FileStoreCall: Sendable, Hashable {
    /// The metadata of a file was asked for.
    case metadata(FileStorePath)
    /// A file was to be read.
    case read(FileStorePath, FileRange)
    /// A file was to be put.
    case write(FileStorePath, FileWriteOptions)
    /// A file was to be copied or moved.
    case transfer(FileTransferRequest)
    /// A file was to be removed.
    case delete(FileStorePath, if: FileCondition)
    /// Files were to be listed.
    case list(FileListRequest)
    /// The changes of a folder were to be followed.
    case changes(FileStoreFolder)

    /// The kinds of calls.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The metadata of a file was asked for.
        case metadata
        /// A file was to be read.
        case read
        /// A file was to be put.
        case write
        /// A file was to be copied or moved.
        case transfer
        /// A file was to be removed.
        case delete
        /// Files were to be listed.
        case list
        /// The changes of a folder were to be followed.
        case changes
    }

    /// Which kind of call it is.
    public var kind: Kind {
        switch self {
        case .metadata: .metadata
        case .read: .read
        case .write: .write
        case .transfer: .transfer
        case .delete: .delete
        case .list: .list
        case .changes: .changes
        }
    }
}

/// What goes wrong with one call of a file store.
public enum FileStoreFault: Sendable {
    /// The call fails before it reaches the store.
    case failure(FileStoreError)
    /// The call takes effect, and its caller gets this error in place of the answer.
    case lostReply(FileStoreError)
    /// A file that is read or put ends in this error after so many bytes.
    case cutOff(after: Int, FileStoreError)
    /// The call takes this long on the clock, and then the other thing happens; nil is nothing.
    indirect case delay(Duration, then: FileStoreFault?)

    /// The call fails before it reaches the store; nothing has happened.
    public static func fail(_ code: FileStoreError.Code = .unavailable) -> FileStoreFault {
        .failure(FileStoreError(code, "an injected fault: the call did not get through"))
    }

    /// The call takes effect and its reply is lost.
    public static func loseReply(_ code: FileStoreError.Code = .timeout) -> FileStoreFault {
        .lostReply(FileStoreError(code, "an injected fault: the reply was lost"))
    }

    /// A file that is read or put breaks off.
    public static func breakOff(after byteCount: Int) -> FileStoreFault {
        .cutOff(
            after: byteCount,
            FileStoreError(.unavailable, "an injected fault: the file broke off")
        )
    }

    /// The call takes this long on the clock, and goes through.
    public static func delay(_ duration: Duration) -> FileStoreFault {
        .delay(duration, then: nil)
    }
}

extension FileStoreFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: FileStoreFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
