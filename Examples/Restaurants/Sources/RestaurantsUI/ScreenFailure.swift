internal import Foundation
public import RestaurantsDomain

/// A failure as a screen tells it.
public struct ScreenFailure: Hashable, Sendable {
    /// The problem, as a sentence.
    public let title: String
    /// The remedy, as a sentence.
    public let advice: String?

    /// Says what an error of the domain means to somebody who looks at a screen; nil for one that
    /// means nothing, because the screen itself no longer wanted the result.
    public init?(_ error: DomainError) {
        guard error.kind != .cancelled else { return nil }
        title = error.localizedDescription
        advice = error.recoverySuggestion
    }
}

/// The state of content that a screen loads.
public enum ScreenContent<Value: Sendable>: Sendable {
    /// It is being loaded for the first time.
    case loading
    /// There is something.
    case shown(Value)
    /// There is nothing, and that is the answer.
    case empty
    /// It could not be loaded; the screen offers to try again.
    case failed(ScreenFailure)
}

extension ScreenContent: Equatable where Value: Equatable {}

extension ScreenContent {
    /// The content, if there is some.
    public var value: Value? {
        guard case .shown(let value) = self else { return nil }
        return value
    }
}

extension ScreenContent where Value: Collection {
    /// Shows a list, or that it is empty.
    static func list(_ value: Value) -> Self { value.isEmpty ? .empty : .shown(value) }
}
