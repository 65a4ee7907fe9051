internal import KeelCore
internal import Synchronization

extension DeliveryLane {
    /// Fills the next batch, and settles records that will not be sent.
    func fill(_ state: inout State) throws(JournalError) {
        var fates = state.queue.review { receiver.review($0.item) }
        if state.needsRewind {
            // Before the rewind: the journal may have erased the records since.
            if !fates.isEmpty { try settle(fates, &state, doubtful: state.status.note.doubtful) }
            fates = [:]
            consumer.rewind()
            state.queue.rewind()
            state.needsRewind = false
        }
        let (wanted, bytes) = (state.queue.batchLimit, receiver.limits.bytes)
        while state.queue.waiting.count < wanted, state.queue.byteCount < bytes {
            let count = min(512, wanted - state.queue.waiting.count)
            let records = try consumer.read(upTo: count, bytes: min(bytes, 1 << 20))
            guard !records.isEmpty else { break }
            for record in records {
                // The receiver may have got it before the journal failed.
                guard !state.status.note.doubtful.contains(record.position) else {
                    fates[record.position] = .rejected("unconfirmed")
                    continue
                }
                switch receiver.sort(record) {
                case .send(let item, let size):
                    state.queue.add(.init(position: record.position, item: item, size: size))
                case .hold: break
                case .settle(let fate): fates[record.position] = fate
                }
            }
        }
        if !fates.isEmpty { try settle(fates, &state) }
        state.status.losses = try consumer.losses()
    }

    /// Makes the next batch consider the records again that are held.
    package func reconsider() {
        state.withLock { $0.needsRewind = true }
        consumer.journal.signal.raise()
    }

    // MARK: Settling

    /// Settles and counts records atomically, and replaces those in doubt.
    func settle(
        _ fates: [JournalPosition: DeliveryFate],
        _ state: inout State,
        doubtful: [JournalPosition] = []
    ) throws(JournalError) {
        guard !fates.isEmpty || doubtful != state.status.note.doubtful else { return }
        try store(&state, doubtful: doubtful) { draft throws(JournalError) in
            try consumer.acknowledge(fates.keys) { settled in
                draft.bytes(adding: settled.compactMap { fates[$0] })
            }
        }
    }

    /// Settles the records that the previous process left in doubt.
    func rejectDoubtful(_ state: inout State) throws(JournalError) {
        guard state.hasOldDoubts else { return }
        let doubtful = Set(state.status.note.doubtful)
        if !doubtful.isEmpty {
            try discard(&state, as: .rejected("unconfirmed"), doubtful: []) {
                doubtful.contains($0.position)
            }
        }
        state.hasOldDoubts = false
    }

    /// Gives all records that match a final outcome, whether they have been read or not.
    ///
    /// Those in the current request get it once the request has ended, unless they arrive.
    package func discard(
        as fate: DeliveryFate,
        where matches: (JournalRecord) -> Bool
    ) throws(JournalError) {
        try state.withLock { state throws(JournalError) in
            let underWay = Set(state.queue.waiting.prefix(state.underWay).map(\.position))
            var doomed: [JournalPosition] = []
            try discard(&state, as: fate, doubtful: state.status.note.doubtful) { record in
                guard matches(record) else { return false }
                guard underWay.contains(record.position) else { return true }
                doomed.append(record.position)
                return false
            }
            for position in doomed { state.doomed[position] = fate }
            show(&state)
        }
    }

    private func discard(
        _ state: inout State,
        as fate: DeliveryFate,
        doubtful: [JournalPosition],
        where matches: (JournalRecord) -> Bool
    ) throws(JournalError) {
        try store(&state, doubtful: doubtful) { draft throws(JournalError) in
            try consumer.discard(where: matches) { settled in
                draft.bytes(adding: repeatElement(fate, count: settled.count))
            }
        }
    }

    private func store(
        _ state: inout State,
        doubtful: [JournalPosition],
        _ call: (inout DraftNote) throws(JournalError) -> Void
    ) throws(JournalError) {
        var draft = DraftNote(note: state.status.note)
        draft.note.doubtful = doubtful
        draft.note.reportedLosses = receiver.reportedLosses
        defer { if draft.isInForce { state.status.note = draft.note } }
        try call(&draft)
    }

    // MARK: Counting

    /// Counts the records that were pending when the lane was opened, once, by scanning all pending records.
    ///
    /// The number can be derived at any time: once everything is delivered, or for a ledger.
    ///
    /// - Returns: False if a record was appended meanwhile; call again.
    package func prepare() throws(JournalError) -> Bool {
        try state.withLock { state throws(JournalError) in try prepare(&state) }
    }

    func prepare(_ state: inout State) throws(JournalError) -> Bool {
        guard state.status.base == nil else { return true }
        try rejectDoubtful(&state)
        let appended = consumer.journal.statistics.appended
        let counts = try consumer.counts()
        // Such a record is in only one of the counts.
        guard consumer.journal.statistics.appended == appended else { return false }
        state.status.losses = counts
        state.status.base = state.status.note.sum + counts.sum - appended
        return true
    }

    /// Returns the status with all records counted on disk; call ``prepare()`` first.
    package func counted() throws(JournalError) -> DeliveryStatus {
        try state.withLock { state throws(JournalError) in
            state.status.losses = try consumer.counts()
            // The journal may have erased them.
            state.status.losses.pending += state.doomed.count
            state.status.appended = consumer.journal.statistics.appended
            return state.status
        }
    }
}

private struct DraftNote {
    var note: DeliveryNote
    /// Whether the consumer has it, in memory at least: its records are not read again.
    private(set) var isInForce = false

    init(note: DeliveryNote) { self.note = note }

    mutating func bytes(adding fates: some Sequence<DeliveryFate>) -> [UInt8] {
        for fate in fates { note.add(fate) }
        isInForce = true
        return note.bytes
    }
}

extension ConsumerCounts {
    package var sum: Int { pending + lost + corrupt }
}
