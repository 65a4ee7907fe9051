/// Notes how the app is used, takes the user's decision about it, and accounts for it.
public struct AccountForUsage: Sendable {
    private let usage: any UsageRepository

    /// Creates the use case.
    public init(usage: any UsageRepository) { self.usage = usage }

    /// Notes that a command was carried out.
    public func note(_ command: String) { usage.note(command) }

    /// Takes the user's decision.
    ///
    /// - Returns: What became of what was noted.
    public func decide(_ isAgreed: Bool) async throws(DomainError) -> UsageLedger {
        try await usage.decide(isAgreed)
        return try await usage.ledger()
    }

    /// Accounts for what was noted.
    public func callAsFunction() async throws(DomainError) -> UsageLedger {
        try await usage.ledger()
    }
}
