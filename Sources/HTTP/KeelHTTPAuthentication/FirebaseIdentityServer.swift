internal import HTTPTypes
internal import KeelCore
public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The identity server of Firebase Authentication, called through its REST interface.
///
/// ```swift
/// let firebase = FirebaseIdentityServer(apiKey: key, transport: transport)
/// let session = AuthSession(server: firebase, store: store)
/// try await session.signIn { try await firebase.signIn(email: email, password: password) }
/// ```
///
/// The access token is Firebase's ID token, which is valid for an hour. `FirestoreAuthentication.idToken(_:)` takes it
/// from the session. ``BearerCredentials/firebaseUserID`` is the user's id.
///
/// Sources: https://firebase.google.com/docs/reference/rest/auth and
/// https://cloud.google.com/identity-platform/docs/use-rest-api.
public struct FirebaseIdentityServer: IdentityServer {
    private let accounts: NetworkClient
    private let tokens: NetworkClient
    private let headers: HTTPFields
    private let now: @Sendable () -> Date

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - apiKey: The web API key of the Firebase project, which is not a secret; an emulator accepts any.
    ///   - transport: The transport of the requests.
    ///   - emulator: The address of Firebase's Authentication emulator; nil for Google's service.
    ///   - now: Returns the current time, from which the lifetimes of tokens are counted.
    public init(
        apiKey: String,
        transport: any HTTPTransport,
        emulator: URL? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        func client(_ host: String) -> NetworkClient {
            let address = emulator?.appending(path: host) ?? Self.address(of: host)
            var settings = NetworkClient.Configuration(baseURL: address)
            settings.redirects = .never
            return NetworkClient(settings, transport: transport)
        }
        accounts = client("identitytoolkit.googleapis.com")
        tokens = client("securetoken.googleapis.com")
        headers = [.googleAPIKey: apiKey]
        self.now = now
    }

    private static func address(of host: String) -> URL {
        guard let address = URL(string: "https://\(host)") else {
            preconditionFailure("The host is a constant.")
        }
        return address
    }

    // MARK: Signing in

    /// Signs in a user with an e-mail address and a password.
    ///
    /// - Throws: `AuthenticationError` with the code `wrongCredentials`, `accountDisabled`, `methodDisabled`,
    ///   `tooManyAttempts`, `signInFailed` or `cancelled`.
    public func signIn(
        email: String,
        password: String
    ) async throws(AuthenticationError) -> BearerCredentials {
        try await signIn("signInWithPassword", ["email": email, "password": password])
    }

    /// Creates a user with an e-mail address and a password, and signs the user in.
    ///
    /// - Throws: The errors of ``signIn(email:password:)``, `accountExists` and `weakPassword`. After `signInFailed`
    ///   and `cancelled`, the user may have been created.
    public func signUp(
        email: String,
        password: String
    ) async throws(AuthenticationError) -> BearerCredentials {
        try await signIn("signUp", ["email": email, "password": password])
    }

    /// Creates a user without a name and signs the user in.
    ///
    /// - Throws: The errors of ``signIn(email:password:)``. After `signInFailed` and `cancelled`, the user may have
    ///   been created.
    public func signInAnonymously() async throws(AuthenticationError) -> BearerCredentials {
        try await signIn("signUp", [:])
    }

    /// Signs in the user of a token that the app's own server has made with a service account.
    ///
    /// - Throws: The errors of ``signIn(email:password:)``.
    public func signIn(
        customToken: String
    ) async throws(AuthenticationError) -> BearerCredentials {
        try await signIn("signInWithCustomToken", ["token": customToken])
    }

    /// Gives an anonymous user an e-mail address and a password, and keeps the user's id.
    ///
    /// - Throws: The errors of ``signUp(email:password:)``, and `expired` if the credentials are too old for this.
    public func link(
        _ credentials: BearerCredentials,
        email: String,
        password: String
    ) async throws(AuthenticationError) -> BearerCredentials {
        // Projects with protection against email enumeration refuse `accounts:update` here. Google's clients use `signUp`:
        // https://github.com/firebase/firebase-js-sdk/pull/7692
        try await signIn(
            "signUp",
            ["idToken": credentials.accessToken, "email": email, "password": password]
        )
    }

    /// Sends an e-mail with which the user can choose a new password.
    ///
    /// If the address is unknown, a project with protection against email enumeration, the default of new projects,
    /// sends nothing and reports no error; other projects report `wrongCredentials`.
    ///
    /// - Throws: The errors of ``signIn(email:password:)``.
    public func sendPasswordReset(email: String) async throws(AuthenticationError) {
        let fields = ["requestType": "PASSWORD_RESET", "email": email]
        _ = try await call("sendOobCode", AccountRequest.Body(fields: fields, wantsTokens: false))
    }

    private func signIn(
        _ method: String,
        _ fields: [String: String]
    ) async throws(AuthenticationError) -> BearerCredentials {
        let asked = now()
        let answer = try await call(method, AccountRequest.Body(fields: fields, wantsTokens: true))
        guard let credentials = answer.credentials(asked: asked) else {
            throw AuthenticationError(.signInFailed, "Firebase's answer has no token.")
        }
        return credentials
    }

    private func call(
        _ method: String,
        _ body: AccountRequest.Body
    ) async throws(AuthenticationError) -> Answer {
        do throws(NetworkError) {
            return try await accounts.request(
                AccountRequest(path: "/v1/accounts:\(method)", body: .json(body), headers)
            )
        } catch {
            if error.isCancellation { throw AuthenticationError(.cancelled) }
            throw AuthenticationError(Self.code(of: error) ?? .signInFailed, cause: error)
        }
    }

    // MARK: Renewal

    public func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        guard let token = credentials.refreshToken else { throw AuthenticationError(.expired) }
        let asked = now()
        do throws(NetworkError) {
            let form: HTTPQuery = ["grant_type": "refresh_token", "refresh_token": token]
            let answer = try await tokens.request(
                AccountRequest(path: "/v1/token", body: .form(form), headers)
            )
            guard var renewed = answer.credentials(asked: asked) else {
                throw NetworkError(.decoding, "Firebase's answer has no token.")
            }
            // Without a new refresh token, the old one stays valid.
            renewed.refreshToken = renewed.refreshToken ?? token
            renewed.additionalFields.merge(credentials.additionalFields) { new, _ in new }
            return renewed
        } catch {
            switch Self.reason(of: error) {
            case "TOKEN_EXPIRED", "USER_DISABLED", "USER_NOT_FOUND", "INVALID_REFRESH_TOKEN":
                throw AuthenticationError(.denied, cause: error)
            default: throw error
            }
        }
    }

    // MARK: Errors

    private static func code(of error: NetworkError) -> AuthenticationError.Code? {
        switch reason(of: error) {
        case "EMAIL_NOT_FOUND", "INVALID_PASSWORD", "INVALID_LOGIN_CREDENTIALS", "INVALID_EMAIL",
            "MISSING_EMAIL", "MISSING_PASSWORD", "INVALID_CUSTOM_TOKEN", "CREDENTIAL_MISMATCH",
            "USER_NOT_FOUND":
            .wrongCredentials
        case "EMAIL_EXISTS": .accountExists
        case "WEAK_PASSWORD", "PASSWORD_DOES_NOT_MEET_REQUIREMENTS": .weakPassword
        case "USER_DISABLED": .accountDisabled
        case "OPERATION_NOT_ALLOWED", "PASSWORD_LOGIN_DISABLED", "ADMIN_ONLY_OPERATION":
            .methodDisabled
        case "TOO_MANY_ATTEMPTS_TRY_LATER", "RESET_PASSWORD_EXCEED_LIMIT", "QUOTA_EXCEEDED":
            .tooManyAttempts
        case "TOKEN_EXPIRED", "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "INVALID_ID_TOKEN": .expired
        default: nil
        }
    }

    /// Returns Google's word for the reason, which an explanation may follow after a colon.
    private static func reason(of error: NetworkError) -> String? {
        struct Body: Decodable {
            struct Failure: Decodable { var message: String }
            var error: Failure
        }
        let body = try? error.response?.decode(as: Body.self)
        return body.map { String($0.error.message.prefix { $0 != " " && $0 != ":" }) }
    }
}

extension BearerCredentials {
    /// The id of the user in Firebase; nil for the credentials of another server.
    public var firebaseUserID: String? { additionalFields["firebaseUserID"] }
}

/// An answer with tokens; the two services spell its members differently.
private struct Answer: Decodable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case idToken, refreshToken, expiresIn
        case user = "localId"
        case renewedToken = "id_token"
        case nextRefreshToken = "refresh_token"
        case renewedFor = "expires_in"
        case renewedUser = "user_id"
    }

    private var idToken: String?
    private var refreshToken: String?
    private var expiresIn: String?
    private var user: String?
    private var renewedToken: String?
    private var nextRefreshToken: String?
    private var renewedFor: String?
    private var renewedUser: String?

    func credentials(asked: Date) -> BearerCredentials? {
        guard let token = idToken ?? renewedToken else { return nil }
        let lifetime = (expiresIn ?? renewedFor).flatMap { TimeInterval($0) }
        let user = user ?? renewedUser ?? Self.subject(of: token)
        return BearerCredentials(
            accessToken: token,
            refreshToken: refreshToken ?? nextRefreshToken,
            expiresAt: lifetime.map { asked.addingTimeInterval($0) },
            additionalFields: user.map { ["firebaseUserID": $0] } ?? [:]
        )
    }

    /// Returns the subject of a JSON Web Token (RFC 7519), whose signature is not checked.
    private static func subject(of token: String) -> String? {
        struct Claims: Decodable { var sub: String }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return Base64.decode(String(parts[1]))
            .flatMap { try? JSONDecoder().decode(Claims.self, from: Data($0)) }?.sub
    }
}

private struct AccountRequest: Endpoint {
    typealias Response = Answer

    struct Body: Encodable {
        let fields: [String: String]
        /// Whether the answer is to have tokens; other methods refuse the member.
        let wantsTokens: Bool

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for (name, value) in fields {
                try container.encode(value, forKey: Key(stringValue: name))
            }
            if wantsTokens {
                try container.encode(true, forKey: Key(stringValue: "returnSecureToken"))
            }
        }

        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
    }

    let path: EndpointPath
    let body: RequestBody?
    let headers: HTTPFields

    init(path: EndpointPath, body: RequestBody, _ headers: HTTPFields) {
        (self.path, self.body, self.headers) = (path, body, headers)
    }

    var method: HTTPRequest.Method { .post }
    var options: HTTPCallOptions { .unauthenticated }
}

extension HTTPField.Name {
    fileprivate static let googleAPIKey = known("X-Goog-Api-Key")
}
