/// A pair of keys that sign requests, with the session token of temporary credentials.
///
/// The description contains only the id of the key, so that neither the secret nor the token appears in logs.
public struct AWSCredentials: Hashable, Sendable {
    /// The id of the key, which is sent with each request.
    public var accessKeyID: String
    /// The secret of the key, which is never sent.
    public var secretAccessKey: String
    /// The session token of temporary credentials; nil for permanent ones.
    public var sessionToken: String?

    /// Creates credentials.
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

/// A type that provides current credentials.
///
/// It is called before each request, possibly from many tasks at once, so it should cache credentials until shortly
/// before they expire.
public protocol AWSCredentialsProvider: Sendable {
    /// Returns the credentials to sign with.
    ///
    /// - Throws: Any error if the provider has no credentials; a `KeelError` says whether the failure is transient.
    func credentials() async throws -> AWSCredentials

    /// Returns the credentials to sign with after the server has reported that others have expired.
    ///
    /// - Returns: New credentials. If the provider has none, it returns `refused`, and the call fails.
    /// - Throws: Any error if the provider has no credentials.
    func credentials(after refused: AWSCredentials) async throws -> AWSCredentials
}

extension AWSCredentialsProvider {
    /// Returns the current credentials.
    public func credentials(after refused: AWSCredentials) async throws -> AWSCredentials {
        try await credentials()
    }
}

extension AWSCredentials: AWSCredentialsProvider {
    /// Returns these credentials.
    public func credentials() async throws -> AWSCredentials { self }
}
