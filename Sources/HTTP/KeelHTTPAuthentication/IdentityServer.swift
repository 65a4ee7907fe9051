import HTTPTypes
import KeelCore
import KeelHTTP

/// A type that asks an identity server for new credentials.
///
/// A session calls it from one task at a time, and passes a refresh token twice only if the answer was lost. Its
/// requests through a client whose calls the session signs pass unsigned.
public protocol IdentityServer<Credentials>: Sendable {
    /// The type of the credentials that the server issues.
    associatedtype Credentials: SessionCredentials

    /// Returns credentials that replace `credentials`.
    ///
    /// - Throws: `AuthenticationError` with the code `denied` if the server refuses permanently, which ends the
    ///   session. A `NetworkError` ends it too if its body is an OAuth 2 error that revokes the grant, such as
    ///   `invalid_grant` (RFC 6749 section 5.2). Any other error leaves the session unchanged, whatever its status:
    ///   gateways, captive portals and misconfigured servers also answer 400 and 401.
    func refresh(_ credentials: Credentials) async throws -> Credentials
}

extension AuthenticationError {
    /// Creates the error of a failed refresh: a permanent denial, or a failure after which the session continues.
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
    /// The other errors of RFC 6749 are mistakes in the request or the server that a later release of either can fix.
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
