import HTTPTypes
import KeelCore

/// A type that asks an identity server for new credentials.
///
/// A session calls it from one task at a time, and gives a refresh token to it once unless the
/// answer was lost. Requests that it makes through a client whose calls the session signs pass
/// unsigned.
public protocol IdentityServer<Credentials>: Sendable {
    /// The credentials that the server hands out.
    associatedtype Credentials: SessionCredentials

    /// Returns credentials that take the place of `credentials`.
    ///
    /// - Throws: ``AuthenticationError`` with the code `denied` if the server refuses for good: the
    ///   session ends. So does a ``NetworkError`` whose body is an error of OAuth 2 that says that
    ///   the grant is no longer good, such as `invalid_grant` (RFC 6749 section 5.2). Any other error
    ///   leaves the session as it is, whatever its status: a gateway, a captive portal and a wrong
    ///   configuration of the server answer 400 and 401 too.
    func refresh(_ credentials: Credentials) async throws -> Credentials
}

extension AuthenticationError {
    /// Says what a failed refresh means: denied for good, or a failure that may pass.
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
    /// Whether the body says that only the user can get another grant: `invalid_grant` of RFC 6749
    /// section 5.2, or what OpenID Connect Core 1.0, section 3.1.2.6, has for the same.
    ///
    /// The other errors of RFC 6749 are mistakes in the request or of the server, which the next
    /// release of either mends.
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
