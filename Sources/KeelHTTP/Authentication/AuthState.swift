/// Whether somebody is signed in.
public enum AuthState: Sendable, Hashable {
    /// The credential store has not been read yet.
    case unknown
    /// Nobody is signed in.
    case signedOut(SignOutReason)
    /// Somebody is signed in, with credentials of this version; each renewal counts on.
    case signedIn(version: Int)
    /// Somebody is signed in with credentials that are no longer good and cannot be renewed.
    case expired
}

/// Why nobody is signed in.
public enum SignOutReason: Sendable, Hashable {
    /// Nobody has signed in yet.
    case notSignedIn
    /// The app has signed the user out, in this session or in another one on the same store.
    case requested
    /// The identity server refused to renew the credentials.
    case denied
}
