/// A repository of usage data, which leave this device only with the user's consent.
public protocol UsageRepository: Sendable {
    /// Records that a command was run. It never fails and returns immediately.
    func note(_ command: String)

    /// Records whether the user consents; without consent, recorded data are removed.
    func decide(_ isAgreed: Bool) async throws(DomainError)

    /// Returns the state of the usage data.
    func ledger() async throws(DomainError) -> UsageLedger
}
