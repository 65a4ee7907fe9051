/// Whether a batch handed to a destination may still be sent.
///
/// The user may decide between the handover of a batch and its requests. A sender checks ``isValid`` immediately before
/// each request, and postpones the batch if it is false.
package struct DeliveryPermit: Sendable {
    /// The permit of the current batch; nil outside of a service.
    @TaskLocal package static var current: DeliveryPermit?

    private let withdrawals: [ConsentPurpose: Int]
    private let consents: ConsentBook

    init(for batch: [AnalyticsRecord], by consents: ConsentBook) {
        withdrawals = consents.withdrawals(of: Set(batch.map(\.purpose)))
        self.consents = consents
    }

    /// Whether the user has consented to everything in the batch, without interruption since its handover.
    ///
    /// Consent that is given again does not count: the denial has removed the batch's records.
    package var isValid: Bool { consents.areGranted(since: withdrawals) }

    /// The outcome of a batch whose consent was withdrawn before it was sent.
    package static let withdrawn = DeliveryOutcome.postponed(
        DeliveryProblem("The user has withdrawn consent."),
        notBefore: nil
    )
}
