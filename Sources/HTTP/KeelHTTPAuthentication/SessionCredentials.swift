#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The credentials that sign the requests of a signed-in user.
///
/// An app's own type can hold more. Keep the tokens out of its description and mirror, as ``BearerCredentials`` does.
public protocol SessionCredentials: Sendable {
    /// The token that signs requests.
    var accessToken: String { get }

    /// The token with which the identity server renews the credentials, if there is one.
    var refreshToken: String? { get }

    /// When the access token expires; nil if unknown.
    var expiresAt: Date? { get }

    /// Whether the credentials can be renewed; by default true if there is a refresh token.
    var isRenewable: Bool { get }

    /// The identifier of the sign-in that these credentials come from; not a secret.
    ///
    /// ``AuthSession`` sets it at each sign-in, to a random value or to a hash of the account that
    /// ``AuthSession/signIn(as:_:)`` names, and keeps it across renewals. Caches, repositories and outboxes use it to
    /// keep users apart: declare and encode this property in a type of your own. The default implementation does not
    /// store the identifier, so it is lost with the session object: a user's cached responses are not found after a
    /// restart, and ``AuthSession/restore()`` does not run the clean-ups of a user whom another has replaced.
    var sessionID: String? { get set }
}

extension SessionCredentials {
    public var isRenewable: Bool { refreshToken != nil }

    public var sessionID: String? {
        get { nil }
        set {}
    }

    /// Whether the tokens are the same, and the sign-in if both name it.
    package func matches(_ other: Self) -> Bool {
        guard accessToken == other.accessToken, refreshToken == other.refreshToken else {
            return false
        }
        guard let sessionID, let otherID = other.sessionID else { return true }
        return sessionID == otherID
    }
}

/// The tokens that an OAuth 2 server issues (RFC 6749 section 5.1), and other values.
public struct BearerCredentials: SessionCredentials, Codable, Hashable {
    public var accessToken: String
    public var refreshToken: String?
    public var expiresAt: Date?
    public var sessionID: String?

    /// Other values stored with the tokens, such as a user's identifier.
    public var additionalFields: [String: String]

    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, expiresAt, sessionID
        case additionalFields = "fields"
    }

    /// Creates credentials.
    public init(
        accessToken: String,
        refreshToken: String? = nil,
        expiresAt: Date? = nil,
        additionalFields: [String: String] = [:]
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.additionalFields = additionalFields
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
