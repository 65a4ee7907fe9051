import HTTPTypes
import KeelCore

/// A type that asks an identity server for new credentials.
///
/// A session calls it from one task at a time, and gives a refresh token to it once unless the
/// answer was lost. Requests that it makes through a client whose calls the session signs pass
/// unsigned.
public protocol IdentityServer<Credentials>: Sendable {
    /// What the server hands out.
    associatedtype Credentials: SessionCredentials

    /// Returns credentials that take the place of `credentials`.
    ///
    /// - Throws: ``AuthenticationError`` with the code `denied`, or a ``NetworkError`` with status
    ///   400 or 401, if the server refuses for good: the session ends. Any other error leaves the
    ///   session as it is.
    func refresh(_ credentials: Credentials) async throws -> Credentials
}

extension AuthenticationError {
    /// Says what a failed refresh means: denied for good, or a failure that may pass.
    init(refreshing error: any Error) {
        if let known = error as? AuthenticationError, known.code == .denied {
            self = known
            return
        }
        if let refusal = error as? NetworkError, let status = refusal.status?.code,
            status == 400 || status == 401, !refusal.isPassingOAuthError
        {
            self.init(.denied, cause: refusal)
            return
        }
        self.init(.refreshFailed, cause: error)
    }
}

extension NetworkError {
    /// Whether the body is an error of RFC 6749 section 5.2 that is about the server's health.
    fileprivate var isPassingOAuthError: Bool {
        struct Body: Decodable {
            var error: String
        }
        guard let body = try? response?.decode(as: Body.self) else { return false }
        return ["temporarily_unavailable", "server_error", "slow_down"].contains(body.error)
    }
}
