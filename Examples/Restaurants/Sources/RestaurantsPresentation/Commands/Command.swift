public import RestaurantsDomain

/// A command of the app.
public enum Command: Hashable, Sendable {
    case refresh
    case list(RestaurantFilter)
    case search(String)
    /// Lists the restaurants around a place; nil for the device's position.
    case near(place: String?, limit: Int)
    /// Shows the details of one or more restaurants.
    case show([String])
    case favourite(String)
    case unfavourite(String)
    case favourites
    case rate(String, stars: Int)
    /// Shows live changes, up to a number of them if given.
    case watch(events: Int?)
    /// Lists the changes that the service has not received, after a decision about one of them.
    case pending(PendingDecision?)
    case login(email: String)
    case logout
    case whoami
    /// Records the user's decision about usage data.
    case consent(Bool)
    /// Shows the state of the usage data.
    case usage
    case help
}

/// A decision about a change that waits for the service.
public enum PendingDecision: Hashable, Sendable {
    case retry(String)
    case discard(String)
}

/// A command with its settings.
public struct Invocation: Hashable, Sendable {
    /// The command.
    public var command: Command
    /// The file of the restaurants; nil for the default.
    public var store: String?
    /// The PostgreSQL database that gets all writes too; nil for none.
    public var mirror: String?
    /// The address of the restaurant service; nil for the default.
    public var api: String?
    /// The name of the user; nil for the default.
    public var user: String?
    /// Whether to log the calls of the service.
    public var isLogged: Bool
    /// The folder of logs and usage data; nil for the default.
    public var telemetry: String?
    /// The folder of the tokens; nil for the platform's store, or else the default folder.
    public var secrets: String?
    /// The address of the server for usage data; nil to send none.
    public var usageServer: String?

    /// Creates an invocation.
    public init(
        _ command: Command,
        store: String? = nil,
        mirror: String? = nil,
        api: String? = nil,
        user: String? = nil,
        isLogged: Bool = false,
        telemetry: String? = nil,
        secrets: String? = nil,
        usageServer: String? = nil
    ) {
        self.command = command
        self.store = store
        self.mirror = mirror
        self.api = api
        self.user = user
        self.isLogged = isLogged
        self.telemetry = telemetry
        self.secrets = secrets
        self.usageServer = usageServer
    }
}

extension Command {
    /// The command's name, without its arguments.
    public var name: String {
        switch self {
        case .refresh: "refresh"
        case .list: "list"
        case .search: "search"
        case .near: "near"
        case .show: "show"
        case .favourite: "favourite"
        case .unfavourite: "unfavourite"
        case .favourites: "favourites"
        case .rate: "rate"
        case .watch: "watch"
        case .pending: "pending"
        case .login: "login"
        case .logout: "logout"
        case .whoami: "whoami"
        case .consent: "consent"
        case .usage: "usage"
        case .help: "help"
        }
    }
}
