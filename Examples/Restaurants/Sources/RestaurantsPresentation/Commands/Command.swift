public import RestaurantsDomain

/// What a user can ask the app to do.
public enum Command: Hashable, Sendable {
    case refresh
    case list(RestaurantFilter)
    case search(String)
    case show(String)
    case favourite(String)
    case unfavourite(String)
    case favourites
    case rate(String, stars: Int)
    /// Tells live changes; with a number, only so many.
    case watch(events: Int?)
    case help
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

    /// Creates an invocation.
    public init(
        _ command: Command,
        store: String? = nil,
        api: String? = nil,
        user: String? = nil
    ) {
        self.command = command
        self.store = store
        self.api = api
        self.user = user
    }
}
