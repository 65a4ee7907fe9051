#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The credentials that a signed-in user's requests are signed with.
///
/// An app's own type may carry more, such as the user's identifier. Its texts are secrets: keep
/// them out of its description and mirror, as ``BearerCredentials`` does.
public protocol SessionCredentials: Sendable {
    /// The token that requests are signed with.
    var accessToken: String { get }

    /// The token that the identity server takes to renew the credentials, if there is one.
    var refreshToken: String? { get }

    /// When the access token stops being good; nil where nobody knows.
    var expiresAt: Date? { get }

    /// Whether the credentials can be renewed; true, unless said otherwise, where there is a
    /// refresh token.
    var isRenewable: Bool { get }

    /// A random name for the sign-in that these credentials come from; no secret.
    ///
    /// ``AuthSession`` gives it at each sign-in and keeps it through renewals. By it an HTTP cache
    /// keeps users apart. A type of your own that has this property, and codes it with the rest,
    /// lets a user's cached responses be found again after a restart; unless said otherwise the
    /// name is not kept, and ends with the session object.
    var sessionID: String? { get set }
}

extension SessionCredentials {
    public var isRenewable: Bool { refreshToken != nil }

    public var sessionID: String? {
        get { nil }
        set {}
    }
}

/// The tokens that an OAuth 2 server hands out (RFC 6749 section 5.1), and room for more.
public struct BearerCredentials: SessionCredentials, Codable, Hashable {
    public var accessToken: String
    public var refreshToken: String?
    public var expiresAt: Date?
    public var sessionID: String?

    /// Other values that the app keeps with the tokens, such as a user's identifier.
    public var fields: [String: String]

    /// Creates credentials.
    public init(
        accessToken: String,
        refreshToken: String? = nil,
        expiresAt: Date? = nil,
        fields: [String: String] = [:]
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.fields = fields
    }
}

extension BearerCredentials:
    CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    public var description: String { "BearerCredentials(redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "isRenewable": isRenewable,
                "expiresAt": expiresAt.map { "\($0.timeIntervalSince1970)" } ?? "unknown",
            ]
        )
    }
}
