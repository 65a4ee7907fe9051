public import Foundation
internal import RestaurantsDomain

/// An error with its remedy and its cause.
public enum ErrorView: Sendable {
    /// Renders an error.
    public static func render(_ error: some LocalizedError, _ style: Style) -> String {
        var lines = ["\(style.red("error\(label(error))")): \(error.localizedDescription)"]
        if let advice = error.recoverySuggestion { lines.append("  \(advice)") }
        if let cause = (error as? DomainError)?.cause {
            lines.append(style.faint("  cause: \(cause)"))
        }
        return lines.joined(separator: "\n")
    }

    private static func label(_ error: some LocalizedError) -> String {
        guard let kind = (error as? DomainError)?.kind else { return "" }
        return " (\("\(kind)".prefix { $0 != "(" }))"
    }
}
