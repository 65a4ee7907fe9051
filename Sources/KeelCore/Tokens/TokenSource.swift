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
    /// that cannot tell are not shared. A name must not be given to another user later on; it should
    /// be the same after a restart, and never be made of an object's address.
    var identity: String? { get async }

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
        identity = Hexadecimal.text(
            of: BLAKE2b.hash(Array("keel token \(value)".utf8), count: 16)
        )
    }

    /// A hash of the token (BLAKE2b), the same after a restart.
    ///
    /// It tells nothing about a token that nobody can guess, as those of machines are.
    public let identity: String?

    public func token() async -> AccessToken { fixed }

    public var description: String { "StaticToken(redacted)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
