/// An existing document that cannot be read.
///
/// It is damaged, sealed with another key, in a later format, or not in the form that a typed collection expects. Two
/// values are equal if their paths, error codes and messages are.
public struct UnreadableDocument: Sendable, Hashable {
    /// The number of unreadable documents beyond which a reader of a long result looks no further for readable ones.
    package static let mostPassedOver = 1_000

    /// The document's path.
    public let path: DocumentPath
    /// The reason.
    public let error: StorageError

    /// Creates a report.
    public init(_ path: DocumentPath, _ error: StorageError) {
        self.path = path
        self.error = error
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.path == right.path && left.error.code == right.error.code
            && left.error.message == right.error.message
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(error.code)
    }
}
