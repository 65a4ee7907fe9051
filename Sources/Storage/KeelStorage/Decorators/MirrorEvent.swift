public import KeelDocuments
public import KeelStorageAdapting

/// An event of the mirror of a ``MirroredStorageAdapter``.
public enum MirrorEvent: Sendable {
    /// The mirror could not prepare for a schema.
    case preparationFailed(StorageError)
    /// Documents could not be copied; they are retried unless their own error is permanent.
    ///
    /// The list is empty if the change log of the first store names the documents.
    case copyFailed([DocumentPath], StorageError)
    /// The record of the documents to copy could not be read or written.
    ///
    /// If the process ends before they are copied, the next process does not know that the mirror lacks them.
    case notKept(StorageError)
    /// The mirror may lack changes: too many waited without a change log, or the log no longer has them.
    case isBehind(StorageError)
    /// The mirror failed to answer a read that the first store answered.
    case readFailed(ReadOperation, StorageError)
    /// The mirror's result differs from the first store's, if it has documents, in these.
    case differs(ReadOperation, [DocumentPath])
}

extension MirrorEvent: CustomStringConvertible {
    /// The event on one line, with names of documents.
    public var description: String {
        switch self {
        case .preparationFailed(let error): "the mirror could not be prepared: \(error)"
        case .copyFailed(let paths, let error):
            "\(paths.isEmpty ? "changes" : Self.list(paths)) not copied to the mirror: \(error)"
        case .notKept(let error): "the record of documents to copy could not be written: \(error)"
        case .isBehind(let error):
            "the mirror may lack changes; copy the store to it again: \(error)"
        case .readFailed(_, let error): "the mirror could not answer a read: \(error)"
        case .differs(_, let paths):
            paths.isEmpty
                ? "the mirror returned a different result"
                : "the mirror differs in \(Self.list(paths))"
        }
    }

    private static func list(_ paths: [DocumentPath]) -> String {
        let names = paths.prefix(3).map { "“\($0)”" }.joined(separator: ", ")
        return paths.count > 3 ? "\(names) and \(paths.count - 3) more" : names
    }
}
