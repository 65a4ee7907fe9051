public import Foundation

/// Why a command line was not understood.
public struct UsageError: Error, Hashable, Sendable {
    /// What is wrong.
    public let message: String
    /// What would be right.
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
