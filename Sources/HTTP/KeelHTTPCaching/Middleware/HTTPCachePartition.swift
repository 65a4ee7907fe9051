import HTTPTypes
public import KeelHTTP

/// The rule by which a cache separates its users: none of them gets a response requested with another's credentials.
///
/// Keys contain a hash of the user's name or credentials, never a token.
public struct HTTPCachePartition: Sendable {
    enum Owner: Hashable, Sendable {
        case everyone
        case user(String)
        case unknown
    }

    let owner: @Sendable (HTTPCall) async -> Owner

    /// Whether credentials identify the user, so that unexpected ones have no owner.
    var countsCredentials = true

    /// Separates users by the credentials of their calls.
    ///
    /// A user is identified by the `Authorization` field of a call, or by the user whose credentials a client's
    /// authorization adds in a lower layer, and by the user of a `CookieJar`. The `Cookie` field of a call is ignored.
    ///
    /// Calls with a token source that cannot name the user of its tokens bypass the cache. A response to an
    /// `Authorization` field that another lower layer than an `HTTPAuthorizing` adds is not stored.
    public static let byCredentials = HTTPCachePartition { call in await signedOwner(of: call) }

    /// Separates users by credentials, and by the given cookies if the call has a `Cookie` field of its own.
    ///
    /// - Parameter cookies: The names of the cookies that identify the user.
    /// - Returns: The partition.
    public static func byCredentials(cookies: Set<String>) -> HTTPCachePartition {
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
            case .everyone: return .user(cookie)
            case .user(let name): return .user(name + "\n" + cookie)
            }
        }
    }

    /// Does not separate users: for a cache that has one user, or serves only public responses.
    public static let none = HTTPCachePartition({ _ in .everyone }, countsCredentials: false)

    /// Separates users as the app decides; a call during which the user changed is not stored.
    ///
    /// - Parameter user: Returns the name of a call's user, or nil for everyone.
    /// - Returns: The partition.
    public static func custom(
        _ user: @escaping @Sendable (HTTPCall) -> String?
    ) -> HTTPCachePartition {
        HTTPCachePartition(
            { call in user(call).map { .user("custom:" + $0) } ?? .everyone },
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
        var names = fields.isEmpty ? [] : ["authorization:" + fields.joined(separator: ",")]
        if let signer = call.actingSigner {
            guard let name = await signer.identity() else { return .unknown }
            names.append("signer:" + name)
        }
        return names.isEmpty ? .everyone : .user(names.joined(separator: "\n"))
    }
}
