#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cookie as a jar stores it (RFC 6265bis section 5.7).
///
/// Its value is often the secret of a session: descriptions, dumps and mirrors omit it. The encoded form includes it,
/// so store that where secrets are stored.
public struct Cookie: Sendable, Hashable, Codable {
    /// The cross-site requests that may carry a cookie.
    public enum SameSite: String, Sendable, Hashable, Codable {
        /// Only same-site requests.
        case strict
        /// Same-site requests, and top-level navigation from another site.
        case lax
        /// All requests; needs ``Cookie/isSecure``.
        case none
    }

    /// The name; it may be empty.
    public var name: String
    /// The value as the server wrote it, quotation marks included.
    public var value: String
    /// The host, or the domain whose hosts all get the cookie, in lowercase.
    public var domain: String
    /// Whether only the exact host that set the cookie gets it back.
    public var isHostOnly: Bool
    /// The path below which the cookie is sent.
    public var path: String
    /// When the cookie expires; nil means at the end of the session.
    public var expiresAt: Date?
    /// Whether the cookie is sent only over secure connections.
    public var isSecure: Bool
    /// Whether scripts of a page must not see the cookie; a jar only records it.
    public var isHTTPOnly: Bool
    /// The cross-site requests that may carry the cookie; nil if the server did not say.
    ///
    /// A jar only records it, because an app's requests have no originating site.
    public var sameSite: SameSite?
    /// When a cookie with this name, domain and path was first set.
    public var createdAt: Date
    /// When the cookie was last set or sent.
    public var usedAt: Date

    /// The ``CookieJar/identity`` of the jar, which saved cookies carry to the next one.
    var owner: String?

    /// The identity of a cookie: a new cookie with the same key replaces the old one.
    struct Key: Hashable {
        var name: String
        var domain: String
        var isHostOnly: Bool
        var path: String
    }

    var key: Key { Key(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }

    func isExpired(at now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "Cookie(\(name), \(domain)\(path), value redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "domain": domain, "path": path])
    }
}
