public import KeelDocuments
public import KeelStorageAdapting

/// An event that a ``MirroredStorageAdapter`` tells of its mirror.
public enum MirrorEvent: Sendable {
    /// The mirror could not prepare for a schema.
    case preparationFailed(StorageError)
    /// Documents could not be copied; after a passing failure they are tried again.
    ///
    /// Their names are missing if the change log of the first store tells them instead.
    case copyFailed([DocumentPath], StorageError)
    /// The record of what is to be copied could not be written.
    ///
    /// If the process ends before the copy is made, the mirror lacks it, and the next process does not
    /// know.
    case notKept(StorageError)
    /// The mirror may lack changes that the first store's change log does not have any more, or that it
    /// has no log to tell of.
    case isBehind(StorageError)
    /// The mirror could not answer a read that the first store answered.
    case readFailed(ReadOperation, StorageError)
    /// The mirror's answer differs, in these documents where the answer has documents.
    case differs(ReadOperation, [DocumentPath])
}

extension MirrorEvent: CustomStringConvertible {
    /// The event on one line, which names documents, never their contents.
    public var description: String {
        switch self {
        case .preparationFailed(let error): "the mirror could not be prepared: \(error)"
        case .copyFailed(let paths, let error):
            "\(paths.isEmpty ? "changes" : Self.list(paths)) not copied to the mirror: \(error)"
        case .notKept(let error): "what is to be copied to the mirror could not be kept: \(error)"
        case .isBehind(let error): "the mirror may lack changes, copy to it once more: \(error)"
        case .readFailed(_, let error): "the mirror could not answer a read: \(error)"
        case .differs(_, let paths):
            paths.isEmpty
                ? "the mirror answered a read differently"
                : "the mirror differs in \(Self.list(paths))"
        }
    }

    private static func list(_ paths: [DocumentPath]) -> String {
        let names = paths.prefix(3).map { "“\($0)”" }.joined(separator: ", ")
        return paths.count > 3 ? "\(names) and \(paths.count - 3) more" : names
    }
}
