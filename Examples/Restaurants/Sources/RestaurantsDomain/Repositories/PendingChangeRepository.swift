/// A repository of changes that the service has not received.
public protocol PendingChangeRepository: Sendable {
    /// Returns a user's changes: the waiting ones in order, then the refused ones.
    func changes(of user: UserID) async throws(DomainError) -> [PendingChange]

    /// Sends a change again.
    func retry(_ change: PendingChange, of user: UserID) async throws(DomainError)

    /// Discards a change, which is then not sent. What is stored on this device stays.
    func discard(_ change: PendingChange, of user: UserID) async throws(DomainError)
}
