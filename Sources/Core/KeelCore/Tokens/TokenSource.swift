/// A type that provides the tokens for requests.
///
/// Layers and adapters whose requests require authorization depend on this protocol. A source promises that
///
/// - ``token()`` returns a token that is valid at the moment, as far as the source can know, renewing it first if
///   necessary;
/// - concurrent callers cause one renewal and share its outcome;
/// - transient errors are marked by ``KeelError/isTransient``.
public protocol TokenSource: Sendable {
    /// The identity of the current user, as a name that is not secret; nil if the source does not know it.
    ///
    /// Layers that share responses use the name to distinguish the users of one client, and share nothing of a source
    /// without one. A name should be the same after a restart, and must never be reused for another user nor derived
    /// from an object's address.
    var identity: String? { get async }

    /// Returns the token for a request that is about to be sent.
    func token() async throws -> AccessToken

    /// Returns the token to use after a server has refused `refused`, or the refused one if there is no better token:
    /// the caller then does not retry.
    func token(after refused: AccessToken) async throws -> AccessToken
}

extension TokenSource {
    public var identity: String? { nil }

    public func token(after refused: AccessToken) async throws -> AccessToken {
        try await token()
    }
}

/// A source of a constant token, such as the key of a service account.
public struct StaticToken: TokenSource, CustomStringConvertible, CustomReflectable {
    private let fixed: AccessToken

    /// Creates a source that always returns the same token.
    public init(_ value: String) {
        fixed = AccessToken(value)
        identity = Hexadecimal.text(
            of: BLAKE2b.hash(Array("keel token \(value)".utf8), count: 16)
        )
    }

    /// A hash of the token (BLAKE2b), which is the same after a restart, and reveals nothing about a token that cannot
    /// be guessed.
    public let identity: String?

    public func token() async -> AccessToken { fixed }

    public var description: String { "StaticToken(redacted)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
