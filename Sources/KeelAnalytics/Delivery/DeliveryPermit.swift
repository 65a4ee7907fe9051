/// Whether a batch that a destination was handed may still leave.
///
/// The user may decide between the moment at which a batch is handed over and the one at which its
/// request begins, and a destination may make several requests of a batch. A sender checks
/// ``isValid`` right before each request, and postpones the batch if it is false.
package struct DeliveryPermit: Sendable {
    /// The permit of the batch that is being delivered, nil outside of a service.
    @TaskLocal package static var current: DeliveryPermit?

    private let purposes: Set<ConsentPurpose>
    private let consents: ConsentBook

    init(for batch: [AnalyticsRecord], by consents: ConsentBook) {
        purposes = Set(batch.map(\.purpose))
        self.consents = consents
    }

    /// Whether the user consents to everything in the batch at this moment.
    package var isValid: Bool { purposes.allSatisfy { consents[$0] == .granted } }

    /// The outcome of a batch whose consent was withdrawn before it was sent.
    package static let withdrawn = DeliveryOutcome.postponed(
        DeliveryProblem("The user has taken consent back."),
        notBefore: nil
    )
}
