/// A pair of keys that requests are signed with, and the token that goes with a passing one.
///
/// Its description names the key's id and nothing else: neither the secret nor the token ends up in
/// a log.
public struct AWSCredentials: Hashable, Sendable {
    /// The id of the key, which travels with each request.
    public var accessKeyID: String
    /// The secret of the key, which never does.
    public var secretAccessKey: String
    /// The token of credentials that expire, as a token service gives them out; nil for others.
    public var sessionToken: String?

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - accessKeyID: The id of the key.
    ///   - secretAccessKey: The secret of the key.
    ///   - sessionToken: The token of credentials that expire.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }
}

extension AWSCredentials: CustomStringConvertible, CustomReflectable {
    public var description: String { "AWSCredentials(\(accessKeyID))" }
    public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }
}

/// A type that knows the credentials of the moment.
///
/// It is asked before each request, so it keeps what it has until shortly before that expires. Many
/// tasks may ask at the same time.
public protocol AWSCredentialsProvider: Sendable {
    /// The credentials to sign with.
    ///
    /// - Returns: The credentials.
    /// - Throws: Why there are none; a `KeelError` of its own says whether that may pass.
    func credentials() async throws -> AWSCredentials

    /// The credentials to sign with after the server has said that these have expired.
    ///
    /// - Parameter refused: The credentials that the server took no more.
    /// - Returns: Other ones, or the same where there are no others: the call then fails.
    /// - Throws: Why there are none.
    func credentials(after refused: AWSCredentials) async throws -> AWSCredentials
}

extension AWSCredentialsProvider {
    /// Asks for the credentials of the moment once more.
    public func credentials(after refused: AWSCredentials) async throws -> AWSCredentials {
        try await credentials()
    }
}

extension AWSCredentials: AWSCredentialsProvider {
    /// These credentials, each time.
    public func credentials() async throws -> AWSCredentials { self }
}
