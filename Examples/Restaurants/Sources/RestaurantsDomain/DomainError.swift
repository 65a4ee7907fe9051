public import Foundation

/// The failure of a use case, in the terms of the app.
///
/// Presentation shows it unchanged. The underlying error of the network or the store is the ``cause``, for logs and
/// diagnosis; the domain does not know its type.
public struct DomainError: Error, Sendable {
    /// The kinds of failures.
    public enum Kind: Hashable, Sendable {
        /// No restaurant has this id, neither on this device nor at the source.
        case restaurantNotFound(RestaurantID)
        /// The text is not a valid restaurant id.
        case invalidRestaurantID(String)
        /// The text is not a valid user name.
        case invalidUserName(String)
        /// The text is not a valid e-mail address.
        case invalidEmail(String)
        /// The password is missing.
        case missingPassword
        /// The e-mail address or the password is wrong.
        case wrongPassword
        /// No user is signed in.
        case notSignedIn
        /// The service no longer accepts the user's session.
        case sessionEnded
        /// The number of stars is out of range.
        case ratingOutOfRange(Int)
        /// None or several of the pending changes have an id with this prefix.
        case changeNotFound(String)
        /// The search contains no word.
        case emptySearch
        /// The text is not a valid place.
        case invalidPlace(String)
        /// The user or the device denies access to the position.
        case locationRefused
        /// The device cannot determine its position.
        case locationUnknown
        /// The service could not be reached.
        case sourceUnreachable
        /// The service refused the request.
        case sourceRefused
        /// The service sent an unexpected response.
        case sourceNotUnderstood
        /// Data on this device could not be read or written.
        case storageFailed
        /// The call was canceled.
        case cancelled
    }

    /// The kind.
    public let kind: Kind

    /// The underlying error, if any.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ kind: Kind, cause: (any Error)? = nil) {
        self.kind = kind
        self.cause = cause
    }
}

extension DomainError: LocalizedError {
    public var errorDescription: String? {
        switch kind {
        case .restaurantNotFound(let id): "There is no restaurant with the id “\(id)”."
        case .invalidRestaurantID(let text): "“\(text)” cannot be the id of a restaurant."
        case .invalidUserName(let text): "“\(text)” cannot be the name of a user."
        case .invalidEmail(let text): "“\(text)” cannot be an e-mail address."
        case .missingPassword: "There is no password."
        case .wrongPassword: "The e-mail address or the password is wrong."
        case .notSignedIn: "Nobody is signed in."
        case .sessionEnded: "The session has ended."
        case .ratingOutOfRange(let count): "A rating of \(count) stars is not possible."
        case .changeNotFound(let id): "“\(id)” is not the id of a change that waits."
        case .emptySearch: "There is nothing to search for."
        case .invalidPlace(let text): "“\(text)” is not a place on the globe."
        case .locationRefused: "This app may not know where the device is."
        case .locationUnknown: "The device could not determine its location."
        case .sourceUnreachable: "The restaurant service could not be reached."
        case .sourceRefused: "The restaurant service refused the request."
        case .sourceNotUnderstood: "The restaurant service sent an invalid response."
        case .storageFailed: "The restaurants on this device could not be read or written."
        case .cancelled: "The operation was cancelled."
        }
    }

    public var recoverySuggestion: String? {
        switch kind {
        case .restaurantNotFound: "Search for the restaurant by its name."
        case .invalidRestaurantID: "Take the id from a list or a search."
        case .invalidUserName:
            "Use up to \(UserID.longestName) letters, digits, “.”, “-” and “_”, "
                + "beginning with a letter."
        case .invalidEmail: "Write it like ada@example.com."
        case .missingPassword: "Type the password when you are asked for it."
        case .wrongPassword: "Check both for mistakes, then sign in again."
        case .notSignedIn: "Sign in with your e-mail address first."
        case .sessionEnded: "Sign in again; your favourites and ratings are still here."
        case .ratingOutOfRange: "Give from 1 to 5 stars."
        case .changeNotFound: "Take the id from the list of what waits for the service."
        case .emptySearch: "Name at least one word of the restaurant’s name, cuisine or street."
        case .invalidPlace: "Write degrees north and east, like 51.21,-3.38."
        case .locationRefused: "Allow it in the system’s settings, or name a place."
        case .locationUnknown: "Try again where there is a view of the sky, or name a place."
        case .sourceUnreachable:
            "What was loaded before can still be listed and searched. "
                + "Check the connection and the address of the service, then refresh again."
        case .sourceRefused: "Try again later."
        case .sourceNotUnderstood: "Check the address of the service, and for a newer app."
        case .storageFailed: "See the cause. No partial changes were made."
        case .cancelled: nil
        }
    }
}
