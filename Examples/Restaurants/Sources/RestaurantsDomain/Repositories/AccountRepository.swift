/// A repository of the user's account at the restaurant service.
public protocol AccountRepository: Sendable {
    /// Signs a user in, replacing any previously signed-in user.
    ///
    /// - Throws: ``DomainError`` of the kind `wrongPassword` if the service does not accept the two.
    func signIn(_ email: EmailAddress, password: String) async throws(DomainError) -> User

    /// Signs the user out, even if the service cannot be reached.
    ///
    /// - Returns: The user who was signed in; nil if nobody was.
    func signOut() async throws(DomainError) -> User?

    /// Returns the user who is signed in on this device, without a request.
    func signedInUser() async throws(DomainError) -> User?

    /// Returns the signed-in user from the service.
    ///
    /// - Throws: ``DomainError`` of the kind `notSignedIn` or `sessionEnded`.
    func currentUser() async throws(DomainError) -> User
}
