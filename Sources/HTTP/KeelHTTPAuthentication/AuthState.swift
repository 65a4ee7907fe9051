/// Whether a user is signed in.
public enum AuthState: Sendable, Hashable {
    /// The credential store has not been read yet.
    case unknown
    /// No user is signed in.
    case signedOut(SignOutReason)
    /// A user is signed in with credentials of this version; each renewal increments it.
    case signedIn(version: Int)
    /// A user is signed in with credentials that are no longer valid and cannot be renewed.
    case expired
}

/// The reason why no user is signed in.
public enum SignOutReason: Sendable, Hashable {
    /// No user has signed in yet.
    case notSignedIn
    /// The app signed the user out, in this session or in another one on the same store.
    case requested
    /// The identity server refused to renew the credentials.
    case denied
}
