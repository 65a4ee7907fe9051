internal import Logging
public import RestaurantsDomain

/// A repository of accounts that logs every operation, without addresses and passwords.
public struct LoggedAccountRepository<Upstream: AccountRepository>: AccountRepository {
    private let upstream: Upstream
    private let log: RepositoryLog

    /// Creates a logging repository around another.
    public init(_ upstream: Upstream, _ log: RepositoryLog) {
        self.upstream = upstream
        self.log = log
    }

    public func signIn(
        _ email: EmailAddress,
        password: String
    ) async throws(DomainError) -> User {
        try await log.run(
            "accounts.signIn",
            .info,
            outcome: { ["user": "\($0.id)"] },
            of: { () async throws(DomainError) in
                try await upstream.signIn(email, password: password)
            }
        )
    }

    public func signOut() async throws(DomainError) -> User? {
        try await log.run(
            "accounts.signOut",
            .info,
            outcome: { ["user": "\($0?.id.name ?? "nobody")"] },
            of: { () async throws(DomainError) in try await upstream.signOut() }
        )
    }

    public func signedInUser() async throws(DomainError) -> User? {
        try await log.run("accounts.signedInUser") {
            () async throws(DomainError) in try await upstream.signedInUser()
        }
    }

    public func currentUser() async throws(DomainError) -> User {
        try await log.run(
            "accounts.currentUser",
            outcome: { ["user": "\($0.id)"] },
            of: { () async throws(DomainError) in try await upstream.currentUser() }
        )
    }
}
