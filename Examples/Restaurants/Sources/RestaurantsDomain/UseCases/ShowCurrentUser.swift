/// Shows the signed-in user.
public struct ShowCurrentUser: Sendable {
    private let accounts: any AccountRepository

    /// Creates the use case.
    public init(accounts: any AccountRepository) { self.accounts = accounts }

    /// Returns the signed-in user.
    ///
    /// - Throws: ``DomainError`` of the kind `notSignedIn` or `sessionEnded`, and others.
    public func callAsFunction() async throws(DomainError) -> User {
        try await accounts.currentUser()
    }
}
