/// Whether a call is signed.
public enum HTTPAuthentication: Sendable, Hashable {
    /// The call is signed. Without credentials, it fails before it is sent.
    case required
    /// The call is signed if a user is signed in, and sent unsigned otherwise.
    case optional
    /// The call is not signed. A `CookieJar` still adds its cookies.
    case none
}

extension HTTPCallOptions {
    private enum AuthenticationKey: HTTPCallOptionKey {
        static var defaultValue: HTTPAuthentication { .required }
    }

    /// Whether the call is signed, if the client signs calls; ``HTTPAuthentication/required`` by default.
    public var authentication: HTTPAuthentication {
        get { self[AuthenticationKey.self] }
        set { self[AuthenticationKey.self] = newValue }
    }
}

/// A layer that adds a user's credentials to calls.
///
/// A client finds such layers when it is created, and asks them for the user of a call: an HTTP cache stores the
/// responses of different users separately, and ``CoalescingMiddleware`` does not share them.
///
/// `BearerAuthorization`, `BasicAuthorization` and `CookieJar` conform. A layer of your own that adds an
/// `Authorization` field, a key or a signature must conform as well: otherwise one user's response may be cached for
/// everyone.
public protocol HTTPAuthorizing: HTTPMiddleware {
    /// The identity whose credentials a call would get now, as a name that is not a secret; nil if it cannot be
    /// determined, which excludes the call from caches and sharing.
    ///
    /// Never reassign a name to another user. An HTTP cache finds a user's responses after a restart if the name is the
    /// same.
    var identity: String? { get async }

    /// Whether the layer may add an `Authorization` field; true by default.
    ///
    /// Return false in a layer that adds only other credentials, such as cookies. A cache then does not attribute an
    /// `Authorization` field from elsewhere to the layer's user. Calls whose ``HTTPCallOptions/authentication`` is
    /// ``HTTPAuthentication/none`` get such credentials, too, and belong to that user.
    var addsAuthorization: Bool { get }
}

extension HTTPAuthorizing {
    public var addsAuthorization: Bool { true }
}
