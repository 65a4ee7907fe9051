public import Foundation

/// A choice that is stored on this device and that the service has not accepted yet.
public struct PendingChange: Hashable, Sendable, Identifiable {
    /// The choice, or its removal.
    public enum Subject: Hashable, Sendable {
        case favourite
        case rating
    }

    /// The progress of a change.
    public enum State: Hashable, Sendable {
        /// Waiting for the service, with the reason if it was already tried.
        case waiting(String?)
        /// Being sent.
        case sending
        /// Refused by the service, with the reason.
        case refused(String)
    }

    /// The identifier.
    public let id: String
    /// The choice.
    public let subject: Subject
    /// The restaurant.
    public let restaurant: RestaurantID
    /// The time at which it was made.
    public let since: Date
    /// The progress.
    public let state: State

    /// Creates a change.
    public init(
        id: String,
        subject: Subject,
        restaurant: RestaurantID,
        since: Date,
        state: State
    ) {
        self.id = id
        self.subject = subject
        self.restaurant = restaurant
        self.since = since
        self.state = state
    }

    /// Whether a decision by the user is needed.
    public var isRefused: Bool { if case .refused = state { true } else { false } }
}
