internal import KeelCore
internal import KeelJournal

extension DeliveryLane {
    /// Handles a batch that was refused as a whole.
    ///
    /// - Returns: The fate of its record, if it is single and its fate is known, and how long to
    ///   wait; nil to continue immediately.
    func refuse(
        _ outcome: DeliveryOutcome,
        _ count: Int,
        _ state: inout LaneState
    ) -> (fate: LaneNote.Fate?, pause: Duration?) {
        let (reason, detail) =
            switch outcome {
            case .unacceptable(let rejection): (rejection.reason, rejection.detail)
            case .unsent: ("unsendable", "The event cannot be sent in any request.")
            default: ("tooLarge", "The request is too large.")
            }
        let fate = state.refuse(count, for: reason, growsSlowly: outcome == .tooLarge)
        let now = timeline.now
        let pace = state.refusals.pause(afterRefusalAt: now)
        // A flush respects this pause as well.
        if let pace { state.askedUntil = max(state.askedUntil, now + pace) }
        guard state.suspects.count >= state.suspectLimit else {
            if pace != nil { show(state, .waiting) }
            return (fate, pace)
        }
        state.giveUp()
        let problem = DeliveryProblem("Every event is refused: \(detail)")
        return (fate, misconfigured(&state, problem))
    }

    /// Reports that every pending record was refused individually.
    ///
    /// - Returns: How long to wait; nil if no record was refused.
    func reportSuspects(_ state: inout LaneState) -> Duration? {
        guard !state.suspects.isEmpty else { return nil }
        // With no other events, a bad event looks like a destination that refuses all.
        state.giveUp()
        return fail(&state, DeliveryProblem("All pending events are refused."), asked: nil)
    }

    /// Pauses the destination until its configuration may have been corrected.
    func misconfigured(_ state: inout LaneState, _ problem: DeliveryProblem) -> Duration {
        state.failures += 1
        let pause = tracker.configuration.misconfigurationDelay
        state.pausedUntil = timeline.now + pause
        show(state, .misconfigured, problem)
        return pause
    }
}
