/// What users have chosen and the service does not know yet.
public protocol PendingChangeRepository: Sendable {
    /// Returns a user's changes: those that wait in their order, then those that were refused.
    func changes(of user: UserID) async throws(DomainError) -> [PendingChange]

    /// Has a change sent again.
    func retry(_ change: PendingChange, of user: UserID) async throws(DomainError)

    /// Drops a change: the service will not be told. What is kept on this device stays.
    func discard(_ change: PendingChange, of user: UserID) async throws(DomainError)
}
