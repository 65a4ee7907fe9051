import Foundation
import RestaurantsDomain
import RestaurantsPresentation

/// Where the app keeps things, whom it asks, and for whom.
struct Settings {
    /// The file that the restaurants are kept in; nil is the usual place for an app's data.
    let store: String?
    /// The restaurant service.
    let api: URL
    /// The user.
    let user: UserID

    /// Takes the command line's word, then the environment's, then the usual.
    init(_ invocation: Invocation, environment: [String: String]) throws {
        store = invocation.store ?? environment["RESTAURANTS_STORE"]
        user = try UserID(
            invocation.user ?? environment["RESTAURANTS_USER"] ?? environment["USER"] ?? "me"
        )
        let address = invocation.api ?? environment["RESTAURANTS_API"] ?? "http://127.0.0.1:8080"
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme),
            url.host() != nil
        else {
            throw UsageError(
                "“\(address)” is no address of a service.",
                suggestion: "Write for example --api http://127.0.0.1:8080."
            )
        }
        api = url
    }
}
