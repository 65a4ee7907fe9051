/// What the app notes about how it is used; it leaves this device with the user's consent only.
public protocol UsageRepository: Sendable {
    /// Notes that a command was carried out. It never fails and waits for nothing.
    func note(_ command: String)

    /// Notes whether the user consents; without consent, what was noted is removed.
    func decide(_ isAgreed: Bool) async throws(DomainError)

    /// What became of what was noted.
    func ledger() async throws(DomainError) -> UsageLedger
}
