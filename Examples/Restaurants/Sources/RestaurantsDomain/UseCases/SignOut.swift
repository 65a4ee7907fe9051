/// Signs the user out.
public struct SignOut: Sendable {
    private let accounts: any AccountRepository

    /// Creates the use case.
    public init(accounts: any AccountRepository) { self.accounts = accounts }

    /// Signs the user out; favourites and ratings stay.
    ///
    /// - Returns: The user who was signed in; nil if nobody was.
    @discardableResult
    public func callAsFunction() async throws(DomainError) -> User? {
        try await accounts.signOut()
    }
}
