import Foundation
import RestaurantsDomain
import RestaurantsPresentation

/// Where the app keeps things, whom it asks, and for whom.
struct Settings {
    /// The file that the restaurants are kept in; nil is the usual place for an app's data.
    let store: String?
    /// The restaurant service.
    let api: URL
    /// The password of the user who signs in; nil is to be asked for.
    let password: String?
    /// Whether to tell what happens to the calls of the service.
    let isLogged: Bool

    /// The user who was named, and the one whose computer it is.
    private let names: (given: String?, computer: String?)

    /// Takes the command line's word, then the environment's, then the usual.
    init(_ invocation: Invocation, environment: [String: String]) throws {
        store = invocation.store ?? environment["RESTAURANTS_STORE"]
        password = environment["RESTAURANTS_PASSWORD"]
        isLogged = invocation.isLogged
        names = (invocation.user ?? environment["RESTAURANTS_USER"], environment["USER"])
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

    /// Whose favourites and ratings are meant: those of the user who was named, else of the one
    /// who is signed in, else of the one whose computer it is.
    func user(signedIn: User?) throws(DomainError) -> UserID {
        if let name = names.given { return try UserID(name) }
        if let signedIn { return signedIn.id }
        return try UserID(names.computer ?? "me")
    }
}
