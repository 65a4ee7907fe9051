internal import KeelCore
internal import KeelJournal

extension AnalyticsService {
    /// Returns the current consent for a purpose: the user's decision or the default.
    public func consent(for purpose: ConsentPurpose) -> AnalyticsConsent {
        tracker.consent(for: purpose)
    }

    /// Grants consent for a purpose, so that its held and future events are sent.
    ///
    /// The decision is on disk before anything is sent. The removal of events that an earlier denial could not complete
    /// comes first.
    ///
    /// - Throws: ``AnalyticsError`` if that removal or the decision could not be stored, with
    ///   ``AnalyticsError/Code/inUse`` while another service delivers. The earlier decision then stays in force.
    public func grantConsent(for purpose: ConsentPurpose) throws(AnalyticsError) {
        try allow(.granted, for: purpose)
        reconsider()
    }

    /// Denies consent for a purpose.
    ///
    /// The purpose's pending events are removed for every destination before the call returns, and future events are
    /// refused. A request in flight is not canceled, and its outcome counts. Destinations of this package start no
    /// further requests with these events, even if consent is given again. The records are overwritten on disk,
    /// including delivered records and those of destinations that the configuration lacks. Records that another service
    /// has written to its current segment are overwritten with its next call, or when the folder is opened again.
    ///
    /// If no purpose is granted anymore, the user is forgotten as by ``reset()``.
    ///
    /// - Throws: ``AnalyticsError`` if the decision or the removal could not be stored, with
    ///   ``AnalyticsError/Code/inUse`` while another service delivers. The decision still applies until the process
    ///   ends: call again.
    public func denyConsent(for purpose: ConsentPurpose) throws(AnalyticsError) {
        // After a failure, remove as much as possible anyway.
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

    /// Withdraws consent for a purpose, and keeps or drops the undelivered events.
    ///
    /// - Throws: The errors of ``denyConsent(for:)``.
    public func revokeConsent(
        for purpose: ConsentPurpose,
        events: RevocationPolicy = .purge
    ) throws(AnalyticsError) {
        switch events {
        case .purge: try denyConsent(for: purpose)
        case .hold: try allow(.unknown, for: purpose)
        }
    }

    /// Stores a decision other than a denial.
    private func allow(
        _ consent: AnalyticsConsent,
        for purpose: ConsentPurpose
    ) throws(AnalyticsError) {
        // The decision ends the denial, whose events would then be sent.
        if right.isHeld, tracker.settings.unfinishedDenials.contains(purpose) {
            try finishDenials()
        }
        try tracker.decide(consent, for: purpose)
    }

    private func reconsider() {
        for lane in lanes { lane.reconsider() }
        tracker.hurry.raise()
    }

    /// Removes the records of denied purposes, and stores that the denials are complete.
    func finishDenials() throws(AnalyticsError) {
        do throws(AnalyticsError) {
            let purposes = tracker.settings.unfinishedDenials
            // Otherwise the next service that delivers removes the rest.
            if try removeDenied() { try tracker.finishDenials(of: purposes) }
            tracker.board.change { if $0.removalProblem != nil { $0.removalProblem = nil } }
        } catch {
            tracker.board.change { $0.removalProblem = error.code }
            throw error
        }
    }

    /// Removes the records of denied purposes.
    ///
    /// - Returns: Whether none is left; false if another service may still be writing to a segment with some.
    private func removeDenied() throws(AnalyticsError) -> Bool {
        let consents = tracker.consents
        func isDenied(_ record: JournalRecord) -> Bool {
            guard let purpose = try? RecordCoding.purpose(of: record.bytes) else { return false }
            return consents[purpose] == .denied
        }
        let doing = "Removing events without consent"
        return try AnalyticsError.mapped(doing) { () throws(JournalError) in
            try tracker.journal.close()
            // Before the records are erased, which no count includes.
            try countPending()
            for lane in lanes { try lane.discard(as: .purged, where: isDenied) }
            let isComplete = try tracker.journal.eraseClosed(where: isDenied)
            try tracker.journal.removeAcknowledged()
            return isComplete
        }
    }
}
