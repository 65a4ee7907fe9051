/// Whether a call is signed.
public enum HTTPAuthentication: Sendable, Hashable {
    /// The call is signed, and fails unsent if there are no credentials.
    case required
    /// The call is signed if a user is signed in, and sent unsigned otherwise.
    case optional
    /// The call is not signed: for signing in, and for public resources.
    case none
}

extension HTTPCallOptions {
    private enum AuthenticationKey: HTTPCallOptionKey {
        static var defaultValue: HTTPAuthentication { .required }
    }

    /// Whether the call is signed, provided that the client signs calls.
    public var authentication: HTTPAuthentication {
        get { self[AuthenticationKey.self] }
        set { self[AuthenticationKey.self] = newValue }
    }
}
