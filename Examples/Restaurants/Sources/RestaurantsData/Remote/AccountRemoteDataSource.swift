internal import Foundation
internal import KeelHTTP

/// The accounts at the restaurant service.
struct AccountRemoteDataSource: Sendable {
    let client: NetworkClient
    let now: @Sendable () -> Date

    /// Returns what a user's requests are signed with.
    func logIn(
        _ email: String,
        _ password: String
    ) async throws(DataSourceError) -> BearerCredentials {
        // Before the request, so that the way there and back is on the safe side.
        let asked = now()
        let grant = try await DataSourceError.remote { () async throws(NetworkError) in
            try await client.request(PostLogin(email: email, password: password))
        }
        return try DataSourceError.mapping { () throws(MappingFailure) in
            try BearerCredentials(grant, asked: asked)
        }
    }

    /// Tells the service that the tokens are no longer wanted.
    func logOut(_ refreshToken: String) async throws(DataSourceError) {
        _ = try await DataSourceError.remote { () async throws(NetworkError) in
            try await client.request(PostLogout(refreshToken: refreshToken))
        }
    }

    /// Returns the user who is signed in.
    func currentUser() async throws(DataSourceError) -> UserDTO {
        try await DataSourceError.remote { () async throws(NetworkError) in
            try await client.request(GetCurrentUser())
        }
    }
}

/// Renews the tokens of a session.
struct SessionServer: IdentityServer {
    let client: NetworkClient
    let now: @Sendable () -> Date

    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        guard let token = credentials.refreshToken else { throw AuthenticationError(.expired) }
        let asked = now()
        // A refusal leaves as it is: Keel ends the session for 400 and 401, and for nothing else.
        let grant = try await client.request(PostRefresh(refreshToken: token))
        return try BearerCredentials(grant, asked: asked)
    }
}
