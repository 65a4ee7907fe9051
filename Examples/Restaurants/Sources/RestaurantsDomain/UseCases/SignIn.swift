/// Signs a user in by e-mail.
public struct SignIn: Sendable {
    private let accounts: any AccountRepository

    /// Creates the use case.
    public init(accounts: any AccountRepository) { self.accounts = accounts }

    /// Signs a user in, replacing any previously signed-in user.
    ///
    /// - Returns: The user.
    /// - Throws: ``DomainError`` of the kind `invalidEmail` or `missingPassword`, before any request; `wrongPassword`,
    ///   and others.
    @discardableResult
    public func callAsFunction(
        _ email: String,
        password: String?
    ) async throws(DomainError) -> User {
        let address = try EmailAddress(email)
        guard let password, !password.isEmpty else { throw DomainError(.missingPassword) }
        return try await accounts.signIn(address, password: password)
    }
}
