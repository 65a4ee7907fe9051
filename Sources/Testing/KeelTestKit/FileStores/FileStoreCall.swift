public import KeelFiles

/// A call to a file store, as doubles record it.
public enum FileStoreCall: Sendable, Hashable {
    /// The metadata of a file was requested.
    case metadata(FileStorePath)
    /// A file was read.
    case read(FileStorePath, FileRange)
    /// A file was written.
    case write(FileStorePath, FileWriteOptions)
    /// A file was copied or moved.
    case transfer(FileTransferRequest)
    /// A file was deleted.
    case delete(FileStorePath, if: FileCondition)
    /// Files were listed.
    case list(FileListRequest)
    /// The changes of a folder were requested.
    case changes(FileStoreFolder)

    /// The kinds of call.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The metadata of a file was requested.
        case metadata
        /// A file was read.
        case read
        /// A file was written.
        case write
        /// A file was copied or moved.
        case transfer
        /// A file was deleted.
        case delete
        /// Files were listed.
        case list
        /// The changes of a folder were requested.
        case changes
    }

    /// The kind of call.
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

/// A fault in one call to a file store.
public enum FileStoreFault: Sendable {
    /// The call fails before it reaches the store.
    case failure(FileStoreError)
    /// The call takes effect, but the caller gets this error.
    case lostReply(FileStoreError)
    /// The content of a read or a write ends with this error after the given number of bytes.
    ///
    /// Shorter content is complete, and other calls get through.
    case cutOff(after: Int, FileStoreError)
    /// The call is delayed on the clock, then the other fault applies; nil lets it through.
    indirect case delay(Duration, then: FileStoreFault?)

    /// Fails the call before it reaches the store.
    public static func fail(_ code: FileStoreError.Code = .unavailable) -> FileStoreFault {
        .failure(FileStoreError(code, "an injected fault: the call did not get through"))
    }

    /// Lets the call take effect and loses its reply.
    public static func loseReply(_ code: FileStoreError.Code = .timeout) -> FileStoreFault {
        .lostReply(FileStoreError(code, "an injected fault: the reply was lost"))
    }

    /// Ends the content of a read or a write with an error after the given number of bytes, unless it is shorter.
    public static func breakOff(after byteCount: Int) -> FileStoreFault {
        .cutOff(
            after: byteCount,
            FileStoreError(.unavailable, "an injected fault: the file broke off")
        )
    }

    /// Delays the call on the clock, then lets it through.
    public static func delay(_ duration: Duration) -> FileStoreFault {
        .delay(duration, then: nil)
    }
}

extension FileStoreFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: FileStoreFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
