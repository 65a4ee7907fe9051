/// A document that is there and cannot be read.
///
/// It is damaged, sealed with another key, of a later version than the app knows, or does not have
/// the form that a typed collection asks for. Two are equal if path, code and message are.
public struct UnreadableDocument: Sendable, Hashable {
    /// The most that a long result passes over; one with more fails.
    package static let mostPassedOver = 1_000

    /// Where the document is.
    public let path: DocumentPath
    /// Why it cannot be read.
    public let error: StorageError

    /// Creates the report of a document.
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
