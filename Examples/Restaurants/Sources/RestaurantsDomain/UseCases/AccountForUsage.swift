/// Records how the app is used and the user's decision about it, and shows the state of these data.
public struct AccountForUsage: Sendable {
    private let usage: any UsageRepository

    /// Creates the use case.
    public init(usage: any UsageRepository) { self.usage = usage }

    /// Records that a command was run.
    public func note(_ command: String) { usage.note(command) }

    /// Records the user's decision.
    ///
    /// - Returns: The state of the usage data.
    public func decide(_ isAgreed: Bool) async throws(DomainError) -> UsageLedger {
        try await usage.decide(isAgreed)
        return try await usage.ledger()
    }

    /// Returns the state of the usage data.
    public func callAsFunction() async throws(DomainError) -> UsageLedger {
        try await usage.ledger()
    }
}
