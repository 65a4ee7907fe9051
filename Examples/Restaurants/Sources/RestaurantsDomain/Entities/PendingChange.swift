public import Foundation

/// A choice that is kept on this device and that the service has not taken yet.
public struct PendingChange: Hashable, Sendable, Identifiable {
    /// What was chosen, or is chosen no more.
    public enum Subject: Hashable, Sendable {
        case favourite
        case rating
    }

    /// How far it has come.
    public enum State: Hashable, Sendable {
        /// It waits for the service; with the reason if it was tried already.
        case waiting(String?)
        /// The service is being told.
        case sending
        /// The service does not take it, and why.
        case refused(String)
    }

    /// What tells it from other changes.
    public let id: String
    /// What was chosen.
    public let subject: Subject
    /// The restaurant.
    public let restaurant: RestaurantID
    /// Since when it waits.
    public let since: Date
    /// How far it has come.
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

    /// Whether somebody has to decide what becomes of it.
    public var isRefused: Bool { if case .refused = state { true } else { false } }
}
