internal import Foundation
internal import KeelCore

/// Why a tool could not do its work: what happened, and what to do about it.
package struct ToolError: LocalizedError, CustomStringConvertible {
    /// What happened, in one sentence.
    package let message: String
    /// What to do about it.
    package let advice: String

    package init(_ message: String, advice: String) {
        self.message = message
        self.advice = advice
    }

    /// The same of any error.
    package init(describing error: any Error) {
        switch error {
        case let error as ToolError: self = error
        case let error as any KeelError:
            self.init("\(error.code.name): \(error.message)", advice: error.code.advice)
        default:
            self.init(
                error.localizedDescription,
                advice: "See the message; keel --help shows the arguments of a command."
            )
        }
    }

    package var errorDescription: String? { message }
    package var recoverySuggestion: String? { advice }
    package var description: String { "\(message)\n\(advice)" }
}
