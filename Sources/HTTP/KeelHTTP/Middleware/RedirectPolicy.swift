public import HTTPTypes

/// The redirects that a client follows.
public struct RedirectPolicy: Sendable, Hashable {
    /// The methods of calls whose redirects are followed; nil means all methods.
    public var methods: Set<HTTPRequest.Method>?

    /// The maximum number of redirects per call; 0 follows none.
    public var limit: Int

    /// Fields that are removed, in addition to `Authorization`, `Cookie` and `Proxy-Authorization`, when a redirect
    /// leads to another origin: list the fields that carry API keys.
    public var credentialFields: Set<HTTPField.Name>

    /// Creates a policy.
    public init(
        methods: Set<HTTPRequest.Method>?,
        limit: Int = 20,
        credentialFields: Set<HTTPField.Name> = []
    ) {
        self.methods = methods
        self.limit = limit
        self.credentialFields = credentialFields
    }

    /// A policy that follows the redirects of `GET` and `HEAD`.
    public static let safeMethods = RedirectPolicy(methods: [.get, .head])

    /// A policy that follows the redirects of all methods.
    ///
    /// A `POST` after status 301 and 302, and any method but `HEAD` after 303, continues as a `GET` without its body
    /// (RFC 9110 section 15.4). After 307 and 308 the same request is sent again if its body is replayable.
    public static let all = RedirectPolicy(methods: nil)

    /// A policy that follows no redirect: the redirecting response is returned.
    public static let never = RedirectPolicy(methods: [], limit: 0)
}
