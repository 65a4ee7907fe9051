import HTTPTypes
import KeelCore
import KeelHTTP

/// A type that asks an identity server for new credentials.
///
/// A session runs one refresh at a time; only that of a session that has ended may still run beside it, canceled. It
/// passes a refresh token again only after a refresh that failed or was cut off. The requests of a refresh, through a
/// client whose calls the session signs, pass unsigned.
public protocol IdentityServer<Credentials>: Sendable {
    /// The type of the credentials that the server issues.
    associatedtype Credentials: SessionCredentials

    /// Returns credentials that replace `credentials`.
    ///
    /// - Throws: `AuthenticationError` with the code `denied` if the server refuses permanently, which ends the
    ///   session. So does a `NetworkError` with status 400 or 401 whose body is an OAuth 2 error that revokes the
    ///   grant, such as `invalid_grant` (RFC 6749 section 5.2). Any other error leaves the user signed in: gateways,
    ///   captive portals and misconfigured servers also answer 400 and 401.
    func refresh(_ credentials: Credentials) async throws -> Credentials
}

extension AuthenticationError {
    init(refreshing error: any Error) {
        if let known = error as? AuthenticationError, known.code == .denied {
            self = known
            return
        }
        if let refusal = error as? NetworkError, refusal.saysThatGrantIsOver {
            self.init(.denied, cause: refusal)
            return
        }
        self.init(.refreshFailed, cause: error)
    }
}

extension NetworkError {
    /// Whether the body says that only the user can obtain another grant: `invalid_grant` of RFC 6749 section 5.2, or
    /// its counterparts in OpenID Connect Core 1.0 section 3.1.2.6.
    ///
    /// A later release of the app or the server can fix the cause of any other error.
    fileprivate var saysThatGrantIsOver: Bool {
        struct Body: Decodable {
            var error: String
        }
        guard status?.code == 400 || status?.code == 401,
            let body = try? response?.decode(as: Body.self)
        else { return false }
        return ["invalid_grant", "login_required", "interaction_required", "consent_required"]
            .contains(body.error)
    }
}
