import HTTPTypes
public import KeelHTTP

/// Whose responses a cache keeps apart.
///
/// A response that was asked for with one user's credentials is not given to another user of the
/// same cache. Keys hold a hash of what names the user, never a token.
public struct HTTPCachePartition: Sendable {
    /// Whose a call is.
    enum Owner: Hashable, Sendable {
        case everybody
        case user(String)
        /// Nobody can tell, so the cache takes no part.
        case unknown
    }

    let owner: @Sendable (HTTPCall) async -> Owner

    /// Whether the credentials name the user, so that a response to some that nobody announced
    /// belongs to nobody knows whom.
    var countsCredentials = true

    /// By the `Authorization` field, or by the user whose credentials a client's authorization adds
    /// further down; cookies do not count.
    ///
    /// Calls of a token source that cannot tell whose its tokens are pass the cache by. A response to
    /// an `Authorization` field that a layer further down has added without being `HTTPAuthorizing`
    /// is not stored.
    public static let credentials = HTTPCachePartition { call in await signedOwner(of: call) }

    /// By the credentials, and by the values of these cookies where the call has a `Cookie` field.
    ///
    /// A `CookieJar` adds its cookies below the cache: use this for calls that bring their own.
    ///
    /// - Parameter cookies: The names of the cookies that name the user.
    /// - Returns: The partition.
    public static func credentials(cookies: Set<String>) -> HTTPCachePartition {
        HTTPCachePartition { call in
            let pairs = call.head.headerFields[values: .cookie]
                .flatMap { FieldList.split($0, at: UInt8(ascii: ";")) }
                .map(FieldList.trimmed)
                .filter { cookies.contains(String($0.prefix { $0 != "=" })) }
                .sorted()
            guard !pairs.isEmpty else { return await signedOwner(of: call) }
            let cookie = "cookie:" + pairs.joined(separator: ";")
            switch await signedOwner(of: call) {
            case .unknown: return .unknown
            case .everybody: return .user(cookie)
            case .user(let name): return .user(name + "\n" + cookie)
            }
        }
    }

    /// Everybody's responses are the same: for a cache that has one user, or serves only what is
    /// public.
    public static let none = HTTPCachePartition({ _ in .everybody }, countsCredentials: false)

    /// By what the app says.
    ///
    /// A call whose answer comes when another user has signed in is not stored.
    ///
    /// - Parameter user: Names the user of a call; nil for calls whose responses are everybody's.
    /// - Returns: The partition.
    public static func custom(
        _ user: @escaping @Sendable (HTTPCall) -> String?
    ) -> HTTPCachePartition {
        HTTPCachePartition(
            { call in user(call).map { .user("custom:" + $0) } ?? .everybody },
            countsCredentials: false
        )
    }

    private init(
        _ owner: @escaping @Sendable (HTTPCall) async -> Owner,
        countsCredentials: Bool = true
    ) {
        self.owner = owner
        self.countsCredentials = countsCredentials
    }

    private static func signedOwner(of call: HTTPCall) async -> Owner {
        let fields = call.head.headerFields[values: .authorization]
        guard fields.isEmpty else {
            return .user("authorization:" + fields.joined(separator: ","))
        }
        guard let signer = call.options.signer, call.options.authentication != .none else {
            return .everybody
        }
        return await signer.identity().map { .user("signer:" + $0) } ?? .unknown
    }
}
