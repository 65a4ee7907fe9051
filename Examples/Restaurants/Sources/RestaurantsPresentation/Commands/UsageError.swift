public import Foundation

/// An error in the command line.
public struct UsageError: Error, Hashable, Sendable {
    /// The problem.
    public let message: String
    /// The correct usage.
    public let suggestion: String

    /// Creates an error.
    public init(_ message: String, suggestion: String = "See restaurants --help.") {
        self.message = message
        self.suggestion = suggestion
    }
}

extension UsageError: LocalizedError {
    public var errorDescription: String? { message }
    public var recoverySuggestion: String? { suggestion }
}
