public import RestaurantsDomain

/// What a user can ask the app to do.
public enum Command: Hashable, Sendable {
    case refresh
    case list(RestaurantFilter)
    case search(String)
    /// Lists the restaurants around a place; nil is where the device is.
    case near(place: String?, limit: Int)
    /// Shows all about one restaurant or several.
    case show([String])
    case favourite(String)
    case unfavourite(String)
    case favourites
    case rate(String, stars: Int)
    /// Tells live changes; with a number, only so many.
    case watch(events: Int?)
    /// Lists what the service does not know yet, after deciding about one change of it.
    case pending(PendingDecision?)
    case login(email: String)
    case logout
    case whoami
    /// Takes the user's decision about what the app notes of its use.
    case consent(Bool)
    /// Accounts for what the app has noted of its use.
    case usage
    case help
}

/// What is to become of a change that waits for the service.
public enum PendingDecision: Hashable, Sendable {
    case retry(String)
    case discard(String)
}

/// A command with the settings that it is carried out under.
public struct Invocation: Hashable, Sendable {
    /// What to do.
    public var command: Command
    /// The file that the restaurants are kept in; nil is the usual one.
    public var store: String?
    /// The address of the restaurant service; nil is the usual one.
    public var api: String?
    /// The name of the user; nil is the usual one.
    public var user: String?
    /// Whether to tell what happens to the calls of the service.
    public var isLogged: Bool
    /// The folder of logs and of what is noted of the app's use; nil is the usual one.
    public var telemetry: String?
    /// The folder of the tokens; nil is the platform's store, or else the usual folder.
    public var secrets: String?
    /// The address of the server that usage is sent to; nil sends none.
    public var usageServer: String?

    /// Creates an invocation.
    public init(
        _ command: Command,
        store: String? = nil,
        api: String? = nil,
        user: String? = nil,
        isLogged: Bool = false,
        telemetry: String? = nil,
        secrets: String? = nil,
        usageServer: String? = nil
    ) {
        self.command = command
        self.store = store
        self.api = api
        self.user = user
        self.isLogged = isLogged
        self.telemetry = telemetry
        self.secrets = secrets
        self.usageServer = usageServer
    }
}

extension Command {
    /// The command's word, without what it is about.
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
