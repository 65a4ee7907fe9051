import Foundation
import RestaurantsDomain
import RestaurantsPresentation

/// The app's settings: locations, servers and the user.
struct Settings {
    /// The app's name in system folders.
    static let app = "Restaurants"

    /// The location of the restaurants; nil for the default location of an app's data.
    let store: Store?
    /// The URL of the PostgreSQL database to which the file is mirrored; nil for none.
    let mirror: String?
    /// The address of the restaurant service.
    let api: URL
    /// The password of the user who signs in; nil to ask for it.
    let password: String?
    /// Whether to log the calls of the service.
    let isLogged: Bool
    /// The folder of the log and the usage data.
    let telemetry: URL
    /// The folder of the encrypted file with the tokens; nil for the platform's store of secrets.
    let secrets: URL?
    /// The server for usage data; nil to send none.
    let usageServer: URL?

    /// The named user, and the owner of the computer.
    private let names: (given: String?, computer: String?)

    /// Takes each setting from the command line, then the environment, then the default.
    init(_ invocation: Invocation, environment: [String: String]) throws {
        store = (invocation.store ?? environment["RESTAURANTS_STORAGE"]).map(Store.init)
        mirror = try Self.mirror(invocation.mirror ?? environment["RESTAURANTS_MIRROR"], of: store)
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

    /// The location of the encrypted file on a device without a store of secrets.
    var usualSecrets: URL { Self.applicationSupport.appending(path: "\(Self.app)/secrets") }

    private static var applicationSupport: URL {
        FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory
    }

    private static func mirror(_ url: String?, of store: Store?) throws(UsageError) -> String? {
        guard let url else { return nil }
        guard case .file = store, case .postgreSQL = Store(url) else {
            throw UsageError(
                "Only a file can have a mirror, and only in PostgreSQL.",
                suggestion: "Write for example --storage FILE --mirror postgres://HOST/DATABASE."
            )
        }
        return url
    }

    private static func address(_ text: String) throws(UsageError) -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme),
            url.host() != nil
        else {
            throw UsageError(
                "“\(text)” is not the address of a service.",
                suggestion: "Write for example --api http://127.0.0.1:8080."
            )
        }
        return url
    }

    /// Returns the user of favourites and ratings: the named one, else the signed-in one, else the owner of the
    /// computer.
    func user(signedIn: User?) throws(DomainError) -> UserID {
        if let name = names.given { return try UserID(name) }
        if let signedIn { return signedIn.id }
        return try UserID(names.computer ?? "me")
    }
}

/// The location of the app's documents.
enum Store {
    case memory
    case file(URL)
    case server(URL)
    case postgreSQL(String)

    /// Parses `memory`, the URL of a server or of a PostgreSQL database, or the path of a file.
    init(_ text: String) {
        if text == "memory" {
            self = .memory
        } else if let url = URL(string: text), ["http", "https"].contains(url.scheme) {
            self = .server(url)
        } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = .postgreSQL(text)
        } else {
            self = .file(URL(fileURLWithPath: text))
        }
    }
}
