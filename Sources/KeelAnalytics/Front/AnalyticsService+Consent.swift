internal import KeelCore
internal import KeelJournal

extension AnalyticsService {
    /// What the user decided about a purpose, or what counts without a decision.
    ///
    /// - Parameter purpose: The purpose.
    /// - Returns: The consent in force.
    public func consent(for purpose: ConsentPurpose) -> AnalyticsConsent {
        tracker.consents[purpose]
    }

    /// Notes that the user consents to a purpose: what was held for it leaves, and what follows.
    ///
    /// The decision is on disk before anything leaves.
    ///
    /// - Parameter purpose: The purpose.
    /// - Throws: ``AnalyticsError`` if the decision could not be written down; then nothing leaves.
    public func grantConsent(for purpose: ConsentPurpose) throws(AnalyticsError) {
        try tracker.decide(.granted, for: purpose)
        reconsider()
    }

    /// Notes that the user does not consent to a purpose.
    ///
    /// What waits for it is removed for every destination, before the call returns; what follows is
    /// refused. A request that is under way is not called back, and counts as what becomes of it; a
    /// destination of this package begins no other. The records are overwritten on the disk, also
    /// those that were delivered, and those of destinations that the configuration does not have.
    ///
    /// Where no purpose is granted any more, the user is forgotten as by ``reset()``.
    ///
    /// - Parameter purpose: The purpose.
    /// - Throws: ``AnalyticsError`` if the decision or the removal could not be written down. The
    ///   decision is in force until the end of the process all the same: make it again.
    public func denyConsent(for purpose: ConsentPurpose) throws(AnalyticsError) {
        // Also after a failure: what can be removed is removed.
        let failure: AnalyticsError?
        do throws(AnalyticsError) {
            try tracker.decide(.denied, for: purpose)
            failure = nil
        } catch {
            failure = error
        }
        reconsider()
        try finishDenials()
        if let failure { throw failure }
    }

    /// Notes that the user takes consent back.
    ///
    /// - Parameters:
    ///   - purpose: The purpose.
    ///   - events: What happens to events that have not left.
    /// - Throws: ``AnalyticsError``, as ``denyConsent(for:)`` does.
    public func revokeConsent(
        for purpose: ConsentPurpose,
        events: RevokedEvents = .purge
    ) throws(AnalyticsError) {
        switch events {
        case .purge: try denyConsent(for: purpose)
        case .hold: try tracker.decide(.unknown, for: purpose)
        }
    }

    private func reconsider() {
        for lane in lanes { lane.reconsider() }
        tracker.arrivals.raise()
        tracker.hurry.raise()
    }

    /// Removes what the user did not consent to, and remembers that nothing of it is left to do.
    func finishDenials() throws(AnalyticsError) {
        do throws(JournalError) {
            try tracker.journal.close()
            for lane in lanes { try lane.purge() }
            let consents = tracker.consents
            try tracker.journal.erase { record in
                guard let purpose = try? RecordCoding.purpose(of: record.bytes) else {
                    return false
                }
                return consents[purpose] == .denied
            }
            try tracker.journal.removeSettled()
        } catch {
            throw AnalyticsError(error, "Removing what the user did not consent to")
        }
        try tracker.finishDenials()
    }
}
