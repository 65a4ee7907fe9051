public import KeelDocuments
public import KeelStorageAdapting

/// An event of the mirror of a ``MirroredStorageAdapter``.
public enum MirrorEvent: Sendable {
    /// The mirror could not prepare for a schema.
    case preparationFailed(StorageError)
    /// Documents could not be copied; after a transient failure they are retried.
    ///
    /// The list is empty if the change log of the first store names the documents.
    case copyFailed([DocumentPath], StorageError)
    /// The record of the documents to copy could not be written.
    ///
    /// If the process ends before they are copied, the mirror lacks them, and the next process does not know it.
    case notKept(StorageError)
    /// The mirror may lack changes because the first store has no change log, or the log no longer has them.
    case isBehind(StorageError)
    /// The mirror failed to answer a read that the first store answered.
    case readFailed(ReadOperation, StorageError)
    /// The mirror's result differs from the first store's, in these documents if the result has documents.
    case differs(ReadOperation, [DocumentPath])
}

extension MirrorEvent: CustomStringConvertible {
    /// The event on one line, with the names of documents but not their contents.
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
