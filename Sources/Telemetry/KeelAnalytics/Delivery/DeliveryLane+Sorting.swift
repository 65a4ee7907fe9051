internal import KeelCBOR
internal import KeelCore
internal import KeelJournal
internal import Synchronization

extension DeliveryLane {
    /// The maximum number of records, and of their bytes, per read from the journal.
    private static let takenRecords = 500
    private static let takenBytes = 1 << 20

    /// Fills the next batch, and settles records that will not be sent.
    func fill(_ state: inout LaneState) throws(JournalError) {
        var purposes: [ConsentPurpose: AnalyticsConsent] = [:]
        // A withdrawal of consent may have erased records read earlier: only this count, made
        // before the rewind, includes them.
        let denied = state.removeWithdrawn { consent(to: $0, &purposes) }
        var fates = Dictionary(denied.map { ($0, LaneNote.Fate.purged) }) { first, _ in first }
        if state.needsRewind {
            if !fates.isEmpty { try settle(fates, &state) }
            fates = [:]
            consumer.rewind()
            state.rewind()
        }
        let wanted = state.batchLimit
        while state.waiting.count < wanted, state.waitingByteCount < destination.limits.bytes {
            let records = try consumer.read(
                upTo: min(Self.takenRecords, wanted - state.waiting.count),
                bytes: Self.takenBytes
            )
            guard !records.isEmpty else { break }
            for record in records {
                if let fate = sort(record, &state, &purposes) { fates[record.position] = fate }
            }
        }
        if !fates.isEmpty { try settle(fates, &state) }
        state.losses = try consumer.losses()
    }

    /// Queues a record for sending, leaves it in the journal (nil), or returns its fate.
    private func sort(
        _ taken: JournalRecord,
        _ state: inout LaneState,
        _ purposes: inout [ConsentPurpose: AnalyticsConsent]
    ) -> LaneNote.Fate? {
        // The destination may have received it before the journal failed.
        if state.note.doubtful.contains(taken.position) { return .rejected("unconfirmed") }
        do throws(CBORError) {
            let purpose = try RecordCoding.purpose(of: taken.bytes)
            switch consent(to: purpose, &purposes) {
            case .granted: break
            case .unknown: return nil
            case .denied: return .purged
            }
            let whole = try RecordCoding.record(taken.bytes)
            guard let record = rules.apply(to: whole) else { return .rejected("filtered") }
            return offer(record, taken.position, &state)
        } catch {
            return .rejected("undecodable")
        }
    }

    private func offer(
        _ record: AnalyticsRecord,
        _ position: JournalPosition,
        _ state: inout LaneState
    ) -> LaneNote.Fate? {
        do throws(AnalyticsRejection) {
            let size = try destination.size(of: record)
            guard size <= destination.limits.bytes else { return .rejected("tooLarge") }
            state.add(LaneState.Candidate(position: position, record: record, size: size))
            return nil
        } catch {
            return .rejected(error.reason)
        }
    }

    private func consent(
        to purpose: ConsentPurpose,
        _ known: inout [ConsentPurpose: AnalyticsConsent]
    ) -> AnalyticsConsent {
        if let consent = known[purpose] { return consent }
        let consent = tracker.consents[purpose]
        known[purpose] = consent
        return consent
    }

    /// Settles and counts records atomically.
    func settle(
        _ fates: [JournalPosition: LaneNote.Fate],
        _ state: inout LaneState
    ) throws(JournalError) {
        guard !fates.isEmpty || !state.note.doubtful.isEmpty else { return }
        var note = state.note
        note.doubtful = []
        var isInForce = false
        defer { if isInForce { state.note = note } }
        try consumer.acknowledge(fates.keys) { settled in
            for position in settled { if let fate = fates[position] { note.add(fate) } }
            isInForce = true
            return note.bytes
        }
    }

    // MARK: Consent

    /// Makes the next batch revisit skipped records.
    func reconsider() { state.withLock { $0.needsRewind = true } }

    /// Removes the records of denied purposes, except those in the current request.
    func purge() throws(JournalError) {
        try state.withLock { state throws(JournalError) in
            try prepare(&state)
            let underWay = Set(state.waiting.prefix(state.underWay).map(\.position))
            var note = state.note
            var isInForce = false
            defer { if isInForce { state.note = note } }
            try consumer.discard { record in
                guard !underWay.contains(record.position),
                    let purpose = try? RecordCoding.purpose(of: record.bytes)
                else { return false }
                return tracker.consents[purpose] == .denied
            } noting: { settled in
                for _ in settled { note.add(.purged) }
                isInForce = true
                return note.bytes
            }
            show(state, nil)
        }
    }
}
