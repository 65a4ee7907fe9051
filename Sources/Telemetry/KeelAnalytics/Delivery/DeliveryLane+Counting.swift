internal import KeelCore
internal import KeelJournal
internal import Synchronization

extension DeliveryLane {
    /// Counts the records that were pending when the service was opened, once.
    ///
    /// This scans all pending records. The number can be derived at any later time, so it delays
    /// neither opening nor delivery: it happens once everything is delivered, or for a ledger.
    func prepare() throws(JournalError) {
        try state.withLock { state throws(JournalError) in try prepare(&state) }
    }

    func prepare(_ state: inout LaneState) throws(JournalError) {
        guard state.base == nil else { return }
        try rejectDoubtful(&state)
        for _ in 0..<3 {
            let before = tracker.appendedCount
            try count(&state)
            // Otherwise a record tracked in the meantime is in only one of the counts.
            if tracker.appendedCount == before { return }
        }
        try tracker.paused { () throws(JournalError) in try count(&state) }
    }

    private func count(_ state: inout LaneState) throws(JournalError) {
        let appended = tracker.appendedCount
        state.losses = try consumer.counts()
        state.base = state.note.sum + state.losses.sum - appended
    }

    /// Settles the records that the previous process left in doubt.
    func rejectDoubtful(_ state: inout LaneState) throws(JournalError) {
        guard state.hasOldDoubts else { return }
        guard !state.note.doubtful.isEmpty else {
            state.hasOldDoubts = false
            return
        }
        var note = state.note
        let doubtful = Set(note.doubtful)
        note.doubtful = []
        var isInForce = false
        defer { if isInForce { state.note = note } }
        try consumer.discard {
            doubtful.contains($0.position)
        } noting: { settled in
            for _ in settled { note.add(.rejected("unconfirmed")) }
            isInForce = true
            return note.bytes
        }
        state.hasOldDoubts = false
    }

    /// Returns the ledger, counted on disk.
    ///
    /// Call ``prepare()`` first.
    func ledger() throws(JournalError) -> AnalyticsLedger {
        try state.withLock { state throws(JournalError) in
            state.losses = try consumer.counts()
            var ledger = AnalyticsLedger(state.note, state.losses)
            ledger.accepted = (state.base ?? 0) + tracker.appendedCount
            return ledger
        }
    }

    // MARK: Status

    /// Updates the counters of the status.
    func refresh() { state.withLock { show($0, nil) } }

    /// The ledger derived from the counters, with the remainder as pending.
    private func counted(_ state: LaneState) -> AnalyticsLedger {
        var ledger = AnalyticsLedger(state.note, state.losses)
        ledger.pending = 0
        if let base = state.base {
            ledger.accepted = base + tracker.appendedCount
            ledger.pending = max(0, ledger.accepted - ledger.sum)
        } else {
            // Until the first count, only records tracked since the start are known.
            let settled = state.note.sum - state.firstSum
            ledger.pending = max(0, tracker.appendedCount - settled)
            ledger.accepted = ledger.sum
        }
        return ledger
    }

    func show(
        _ state: LaneState,
        _ activity: AnalyticsStatus.Activity?,
        _ problem: DeliveryProblem? = nil
    ) {
        let ledger = counted(state)
        tracker.board.change { status in
            var entry = status.destinations[name] ?? AnalyticsStatus.Destination()
            entry.ledger = ledger
            if let activity { entry.activity = activity }
            entry.failures = state.failures
            if let problem { entry.problem = problem }
            if state.failures == 0 { entry.problem = nil }
            status.destinations[name] = entry
        }
    }
}

extension AnalyticsLedger {
    /// Combines a destination's counters with the journal's; their sum is the accepted records.
    init(_ note: LaneNote, _ counts: ConsumerCounts) {
        delivered = note.delivered
        rejected = note.rejected
        if counts.corrupt > 0 { rejected["damaged", default: 0] += counts.corrupt }
        expired = counts.lost
        purged = note.purged
        pending = counts.pending
        accepted = note.sum + counts.sum
    }
}

extension ConsumerCounts {
    /// All records that the lane has not settled.
    fileprivate var sum: Int { pending + lost + corrupt }
}
