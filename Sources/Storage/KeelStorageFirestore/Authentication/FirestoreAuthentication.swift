public import KeelCore
internal import KeelHTTP
public import KeelStorageAdapting

/// The authentication of an adapter's requests.
///
/// Tokens are sent only to the configured server. If the server refuses a token with status 401, the adapter requests a
/// new token from the source and sends the request once more.
public struct FirestoreAuthentication: Sendable {
    private let makeSource: @Sendable (any HTTPTransport) -> (any TokenSource)?

    init(_ makeSource: @escaping @Sendable (any HTTPTransport) -> (any TokenSource)?) {
        self.makeSource = makeSource
    }

    func source(over transport: any HTTPTransport) -> (any TokenSource)? { makeSource(transport) }

    /// No authentication.
    public static let none = Self { _ in nil }

    /// Returns an authentication with a fixed bearer token.
    public static func token(_ text: String) -> Self { source(StaticToken(text)) }

    /// Returns an authentication with the ID tokens of a user, to which the server's security rules apply.
    ///
    /// - Parameter tokens: The source of the user's tokens, such as an `AuthSession`.
    /// - Returns: The authentication.
    public static func idToken(_ tokens: some TokenSource) -> Self { source(tokens) }

    /// Returns an authentication with the tokens of a source.
    public static func source(_ tokens: some TokenSource) -> Self { Self { _ in tokens } }
}

#if Crypto
extension FirestoreAuthentication {
    /// Returns an authentication with access tokens of a Google service account.
    public static func serviceAccount(_ key: ServiceAccountKey) -> Self {
        Self { transport in ServiceAccountTokens(key, transport: transport) }
    }

    /// Returns an authentication with access tokens of a Google service account.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the contents are not the key of a service account.
    public static func serviceAccount(
        json: some Collection<UInt8>
    ) throws(StorageError) -> Self {
        serviceAccount(try ServiceAccountKey(json: json))
    }
}
#else
extension FirestoreAuthentication {
    /// Returns an authentication with access tokens of a Google service account.
    @available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
    public static func serviceAccount(_ key: ServiceAccountKey) -> Self { none }

    /// Returns an authentication with access tokens of a Google service account.
    @available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
    public static func serviceAccount(
        json: some Collection<UInt8>
    ) throws(StorageError) -> Self { none }
}
#endif
