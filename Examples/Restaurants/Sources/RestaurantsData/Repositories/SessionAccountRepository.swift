internal import KeelHTTP
internal import KeelHTTPAuthentication
internal import KeelRepositories
public import RestaurantsDomain

/// Accounts of the restaurant service, with the session stored on this device.
public struct SessionAccountRepository: AccountRepository {
    private let service: RestaurantService

    /// Creates a repository for a service.
    public init(_ service: RestaurantService) { self.service = service }

    public func signIn(
        _ email: EmailAddress,
        password: String
    ) async throws(DomainError) -> User {
        do {
            try await service.session.signIn {
                try await service.accounts.logIn(email.text, password)
            }
        } catch {
            throw DomainError(signingIn: error)
        }
        guard let user = try await signedInUser() else { throw DomainError(.notSignedIn) }
        return user
    }

    public func signOut() async throws(DomainError) -> User? {
        let credentials = try await credentials()
        let user = try await user(of: credentials)
        try await DomainError.session { () async throws(AuthenticationError) in
            try await service.session.signOut()
        }
        if let token = credentials?.refreshToken {
            // The session ends here, whether or not the service can be reached.
            _ = try? await service.accounts.remote.request(PostLogout(refreshToken: token))
        }
        return user
    }

    public func signedInUser() async throws(DomainError) -> User? {
        try await user(of: try await credentials())
    }

    public func currentUser() async throws(DomainError) -> User {
        let known = try await signedInUser()
        do throws(DataSourceError) {
            return try await service.accounts.remote.domain(GetCurrentUser())
        } catch {
            let failure = RepositoryError(error)
            if failure.isUnreachable, let known { return known }
            throw DomainError(failure)
        }
    }

    // MARK: Parts

    private func credentials() async throws(DomainError) -> BearerCredentials? {
        try await DomainError.session { () async throws(AuthenticationError) in
            _ = try await service.session.restore()
        }
        return service.session.current
    }

    private func user(of credentials: BearerCredentials?) async throws(DomainError) -> User? {
        guard let credentials else { return nil }
        return try await DomainError.mapping {
            try UserDTO(credentials).toDomain()
        }
    }
}
