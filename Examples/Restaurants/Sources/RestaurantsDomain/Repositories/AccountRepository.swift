/// Who is signed in at the restaurant service.
public protocol AccountRepository: Sendable {
    /// Signs a user in, in place of whoever was signed in before.
    ///
    /// - Throws: ``DomainError`` of the kind `wrongPassword` if the service does not know the two.
    func signIn(_ email: EmailAddress, password: String) async throws(DomainError) -> User

    /// Signs the user out, also where the service cannot be reached.
    ///
    /// - Returns: The user who was signed in; nil if nobody was.
    func signOut() async throws(DomainError) -> User?

    /// Returns the user who is signed in on this device; it asks nobody else.
    func signedInUser() async throws(DomainError) -> User?

    /// Returns the user who is signed in, as the service knows the user.
    ///
    /// - Throws: ``DomainError`` of the kind `notSignedIn` or `sessionEnded`.
    func currentUser() async throws(DomainError) -> User
}
