/// A type that hands out the token for a request.
///
/// It is what a layer or an adapter asks for when its requests must be signed, so that none of
/// them has to know how a user signs in. A source promises that
///
/// - ``token()`` returns a token that is good at that moment, as far as the source can know, and
///   renews it first where it must;
/// - many callers at once cause one renewal, and all of them get its outcome;
/// - an error that may pass says so through ``KeelError/isTransient``.
public protocol TokenSource: Sendable {
    /// Whose tokens these are now, as a name that is no secret; nil if the source cannot tell.
    ///
    /// It tells the users of one client apart, for layers that share responses: calls of a source
    /// that cannot tell are not shared.
    var identity: String? { get }

    /// Returns the token for a request that is about to be sent.
    func token() async throws -> AccessToken

    /// Returns the token to use after a server has refused `refused`.
    ///
    /// A source that has nothing better returns the refused token again; the caller then gives up.
    func token(after refused: AccessToken) async throws -> AccessToken
}

extension TokenSource {
    public var identity: String? { nil }

    public func token(after refused: AccessToken) async throws -> AccessToken {
        try await token()
    }
}

/// A token that stays the same, such as the key of a service account.
public struct StaticToken: TokenSource, CustomStringConvertible, CustomReflectable {
    private let fixed: AccessToken

    /// Creates a source that always hands out this text.
    public init(_ value: String) {
        fixed = AccessToken(value)
    }

    /// A name of its own for each source that is created; copies share it.
    public let identity: String? = String(UInt64.random(in: .min ... .max), radix: 16)

    public func token() async -> AccessToken { fixed }

    public var description: String { "StaticToken(redacted)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
