internal import Foundation
internal import HTTPTypes
internal import KeelHTTP
internal import KeelHTTPAuthentication
internal import KeelRepositories

/// The accounts at the restaurant service.
struct AccountRemoteDataSource: IdentityServer {
    let remote: RemoteDataSource
    let now: @Sendable () -> Date

    /// Returns the credentials for a user's requests.
    func logIn(
        _ email: String,
        _ password: String
    ) async throws(DataSourceError) -> BearerCredentials {
        try await credentials(PostLogin(email: email, password: password))
    }

    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        guard let token = credentials.refreshToken else { throw AuthenticationError(.expired) }
        do throws(DataSourceError) {
            return try await self.credentials(PostRefresh(refreshToken: token))
        } catch {
            let cause: any Error = error.networkError ?? error
            // This service sends no OAuth bodies: status 401 means that the token is used up.
            guard error.networkError?.status == .unauthorized else { throw cause }
            throw AuthenticationError(.denied, cause: cause)
        }
    }

    private func credentials<E: Endpoint>(
        _ endpoint: E
    ) async throws(DataSourceError) -> BearerCredentials where E.Response == GrantDTO {
        // Taken before the request, so that the round trip only shortens the lifetime.
        let asked = now()
        let grant = try await remote.request(endpoint)
        return try DataSourceError.mapping {
            try grant.credentials(asked: asked)
        }
    }
}
