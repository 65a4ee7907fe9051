/// A token that signs a request, such as the bearer token of RFC 6750.
///
/// Its text is a secret: descriptions, dumps and mirrors leave it out.
public struct AccessToken: Sendable {
    /// The token as it is sent.
    public let value: String

    /// Where the token comes from, where its source counts its tokens.
    package let origin: Origin?

    /// Which of its source's tokens this one is.
    package struct Origin: Sendable, Hashable {
        /// Counts the sign-ins.
        package var session: Int
        /// Counts the credentials of all sessions.
        package var version: Int
        /// How many renewals had ended when the token was handed out.
        package var renewals: Int

        package init(session: Int, version: Int, renewals: Int) {
            self.session = session
            self.version = version
            self.renewals = renewals
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

    /// Whether both are one and the same token, not only the same text given out twice.
    public func isSameIssue(as other: AccessToken) -> Bool {
        value == other.value && origin?.session == other.origin?.session
            && origin?.version == other.origin?.version
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AccessToken(redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
