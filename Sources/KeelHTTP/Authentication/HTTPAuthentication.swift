/// Whether a call is signed.
public enum HTTPAuthentication: Sendable, Hashable {
    /// It is, and fails unsent if there are no credentials.
    case required
    /// It is if somebody is signed in, and goes out unsigned otherwise.
    case optional
    /// It is not: for signing in, and for what everybody may see.
    case none
}

extension HTTPCallOptions {
    private enum AuthenticationKey: HTTPCallOptionKey {
        static var defaultValue: HTTPAuthentication { .required }
    }

    /// Whether the call is signed, where the client signs calls at all.
    public var authentication: HTTPAuthentication {
        get { self[AuthenticationKey.self] }
        set { self[AuthenticationKey.self] = newValue }
    }
}
