public import HTTPTypes

/// Which redirects a client follows.
public struct RedirectPolicy: Sendable, Hashable {
    /// The methods of calls whose redirects are followed; nil is all methods.
    public var methods: Set<HTTPRequest.Method>?

    /// How many redirects of one call are followed; 0 follows none.
    public var limit: Int

    /// Fields that are left out, beside `Authorization`, `Cookie` and `Proxy-Authorization`, when
    /// a redirect leads to another origin: list the names of fields that carry API keys.
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

    /// Follows the redirects of `GET` and `HEAD`.
    public static let safeMethods = RedirectPolicy(methods: [.get, .head])

    /// Follows the redirects of all methods.
    ///
    /// After status 301 and 302 a `POST`, after 303 any method but `HEAD`, goes on as a `GET`
    /// without its body (RFC 9110 section 15.4); after 307 and 308 the same request is sent again,
    /// if its body can be.
    public static let all = RedirectPolicy(methods: nil)

    /// Follows none: the redirecting response is the response.
    public static let never = RedirectPolicy(methods: [], limit: 0)
}
