import Foundation
import RestaurantsDomain
import RestaurantsPresentation

/// Where the app keeps things, whom it asks, and for whom.
struct Settings {
    /// The app's name in the folders of the system.
    static let app = "Restaurants"

    /// Where the restaurants are kept; nil is the usual place for an app's data.
    let store: Store?
    /// The restaurant service.
    let api: URL
    /// The password of the user who signs in; nil is to be asked for.
    let password: String?
    /// Whether to tell what happens to the calls of the service.
    let isLogged: Bool
    /// The folder of the log and of what is noted of the app's use.
    let telemetry: URL
    /// The folder of the encrypted file with the tokens; nil is the platform's store of secrets.
    let secrets: URL?
    /// Where these notes are sent; nil sends none.
    let usageServer: URL?

    /// The user who was named, and the one whose computer it is.
    private let names: (given: String?, computer: String?)

    /// Takes the command line's word, then the environment's, then the usual.
    init(_ invocation: Invocation, environment: [String: String]) throws {
        store = (invocation.store ?? environment["RESTAURANTS_STORE"]).map(Store.init)
        password = environment["RESTAURANTS_PASSWORD"]
        isLogged = invocation.isLogged
        let folder = invocation.telemetry ?? environment["RESTAURANTS_TELEMETRY"]
        telemetry =
            folder.map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? Self.applicationSupport.appending(path: "\(Self.app)/telemetry")
        let vault = invocation.secrets ?? environment["RESTAURANTS_SECRETS"]
        secrets = vault.map { URL(fileURLWithPath: $0, isDirectory: true) }
        usageServer = try invocation.usageServer.map(Self.address)
        names = (invocation.user ?? environment["RESTAURANTS_USER"], environment["USER"])
        let address = invocation.api ?? environment["RESTAURANTS_API"] ?? "http://127.0.0.1:8080"
        api = try Self.address(address)
    }

    /// Where the encrypted file is on a device without a store of secrets.
    var usualSecrets: URL { Self.applicationSupport.appending(path: "\(Self.app)/secrets") }

    private static var applicationSupport: URL {
        FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory
    }

    private static func address(_ text: String) throws(UsageError) -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme),
            url.host() != nil
        else {
            throw UsageError(
                "“\(text)” is no address of a service.",
                suggestion: "Write for example --api http://127.0.0.1:8080."
            )
        }
        return url
    }

    /// Whose favourites and ratings are meant: those of the user who was named, else of the one
    /// who is signed in, else of the one whose computer it is.
    func user(signedIn: User?) throws(DomainError) -> UserID {
        if let name = names.given { return try UserID(name) }
        if let signedIn { return signedIn.id }
        return try UserID(names.computer ?? "me")
    }
}

/// A place for the app's documents.
enum Store {
    case memory
    case file(URL)
    case server(URL)

    /// Takes `memory`, the address of a server, or the path of a file.
    init(_ text: String) {
        if text == "memory" {
            self = .memory
        } else if let url = URL(string: text), ["http", "https"].contains(url.scheme) {
            self = .server(url)
        } else {
            self = .file(URL(fileURLWithPath: text))
        }
    }
}
