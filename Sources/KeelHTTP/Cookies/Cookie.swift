#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cookie as a jar keeps it (RFC 6265bis section 5.7).
///
/// Its value is often a session's secret: descriptions, dumps and mirrors leave it out. The
/// encoded form has it, so keep that where secrets are kept.
public struct Cookie: Sendable, Hashable, Codable {
    /// Which requests from other sites may carry a cookie.
    public enum SameSite: String, Sendable, Hashable, Codable {
        /// Only requests of the same site.
        case strict
        /// Requests of the same site, and following a link from another.
        case lax
        /// All requests; needs ``Cookie/isSecure``.
        case none
    }

    /// The name; it may be empty.
    public var name: String
    /// The value as the server wrote it, quotation marks included.
    public var value: String
    /// The host, or the domain whose hosts all get the cookie, in small letters.
    public var domain: String
    /// Whether only the very host that set the cookie gets it back.
    public var isHostOnly: Bool
    /// The path below which the cookie is sent.
    public var path: String
    /// When the cookie ends; nil is with the session.
    public var expiresAt: Date?
    /// Whether the cookie goes over secure connections only.
    public var isSecure: Bool
    /// Whether scripts of a page must not see the cookie; a jar only notes it.
    public var isHTTPOnly: Bool
    /// Which requests from other sites may carry the cookie; nil where the server did not say.
    ///
    /// An app's requests have no site that they come from: a jar only notes it.
    public var sameSite: SameSite?
    /// When a cookie with this name, domain and path was first set.
    public var createdAt: Date
    /// When the cookie was last set or sent.
    public var usedAt: Date

    /// Tells one cookie from another: setting one with the same key replaces it.
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
