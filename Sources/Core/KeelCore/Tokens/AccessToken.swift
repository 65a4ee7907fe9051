/// A token that authorizes a request, such as the bearer token of RFC 6750; descriptions, dumps and mirrors omit its
/// text.
public struct AccessToken: Sendable {
    /// The text of the token, as sent.
    public let value: String

    /// The origin of the token, if its source counts its tokens.
    package let origin: Origin?

    /// The position of a token among the tokens of its source.
    package struct Origin: Sendable, Hashable {
        /// The number of the sign-in.
        package var session: Int
        /// The number of the credentials across all sign-ins.
        package var version: Int
        /// The number of renewals completed before the token was returned.
        package var renewals: Int
        /// The source's name of the token's user.
        package var identity: String

        package init(session: Int, version: Int, renewals: Int, identity: String) {
            self.session = session
            self.version = version
            self.renewals = renewals
            self.identity = identity
        }
    }

    /// Creates a token.
    public init(_ value: String) {
        self.value = value
        origin = nil
    }

    package init(_ value: String, origin: Origin) {
        self.value = value
        self.origin = origin
    }

    /// Returns whether both are the same issue of a token, not only tokens with the same text.
    package func isSameIssue(as other: AccessToken) -> Bool {
        value == other.value && origin?.session == other.origin?.session
            && origin?.version == other.origin?.version
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AccessToken(redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
