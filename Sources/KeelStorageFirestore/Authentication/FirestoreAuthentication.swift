public import KeelCore
internal import KeelHTTP
public import KeelStorageAdapting

/// How the requests of an adapter are signed.
///
/// A token goes to the configured server and nowhere else. When the server refuses it with status
/// 401, the request is sent once more with the token that its source then gives.
public struct FirestoreAuthentication: Sendable {
    private let makeSource: @Sendable (any HTTPTransport) -> (any TokenSource)?

    init(_ makeSource: @escaping @Sendable (any HTTPTransport) -> (any TokenSource)?) {
        self.makeSource = makeSource
    }

    func source(over transport: any HTTPTransport) -> (any TokenSource)? { makeSource(transport) }

    /// Requests are not signed.
    public static let none = Self { _ in nil }

    /// Requests are signed with a token that stays the same.
    public static func token(_ text: String) -> Self { source(StaticToken(text)) }

    /// Requests are signed with the ID tokens of a user, so that the server's rules know them.
    ///
    /// - Parameter tokens: What knows the user's current token, such as an `AuthSession`.
    /// - Returns: The authentication.
    public static func idToken(_ tokens: some TokenSource) -> Self { source(tokens) }

    /// Requests are signed with the tokens of any source.
    public static func source(_ tokens: some TokenSource) -> Self { Self { _ in tokens } }
}

#if Crypto
extension FirestoreAuthentication {
    /// Requests are signed with access tokens for a service account of Google's.
    ///
    /// - Parameter key: The account's key.
    /// - Returns: The authentication.
    public static func serviceAccount(_ key: ServiceAccountKey) -> Self {
        Self { transport in ServiceAccountTokens(key, transport: transport) }
    }

    /// Requests are signed with access tokens for a service account of Google's.
    ///
    /// - Parameter json: The content of the key's file.
    /// - Returns: The authentication.
    /// - Throws: `StorageError/Code/invalidArgument` if the file holds no key of a service account.
    public static func serviceAccount(
        json: some Collection<UInt8>
    ) throws(StorageError) -> Self {
        serviceAccount(try ServiceAccountKey(json: json))
    }
}
#else
extension FirestoreAuthentication {
    /// Requests are signed with access tokens for a service account of Google's.
    @available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
    public static func serviceAccount(_ key: ServiceAccountKey) -> Self { none }

    /// Requests are signed with access tokens for a service account of Google's.
    @available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
    public static func serviceAccount(
        json: some Collection<UInt8>
    ) throws(StorageError) -> Self { none }
}
#endif
