internal import Foundation
public import RestaurantsDomain

/// A failure as a screen shows it.
public struct ScreenFailure: Hashable, Sendable {
    /// The problem, as a sentence.
    public let title: String
    /// The remedy, as a sentence.
    public let advice: String?

    /// Creates the failure for an error of the domain; nil for a cancellation, because the screen no longer needs the
    /// result.
    public init?(_ error: DomainError) {
        guard error.kind != .cancelled else { return nil }
        title = error.localizedDescription
        advice = error.recoverySuggestion
    }
}

/// The state of content that a screen loads.
public enum ScreenContent<Value: Sendable>: Sendable {
    /// Loading for the first time.
    case loading
    /// Loaded, with content.
    case shown(Value)
    /// Loaded, without content.
    case empty
    /// Failed; the screen offers to try again.
    case failed(ScreenFailure)
}

extension ScreenContent: Equatable where Value: Equatable {}

extension ScreenContent {
    /// The content, if any.
    public var value: Value? {
        guard case .shown(let value) = self else { return nil }
        return value
    }
}

extension ScreenContent where Value: Collection {
    /// Creates the state of a list, which may be empty.
    static func list(_ value: Value) -> Self { value.isEmpty ? .empty : .shown(value) }
}
