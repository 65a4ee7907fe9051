internal import KeelCore
internal import KeelJournal
internal import Synchronization

/// Brings the records of the journal to one destination.
///
/// A lane has one request under way at most. That keeps the order of events, makes one answer speak
/// for the destination, and is why no lane has to wait for another: a limit for all lanes together
/// would let two destinations that hang hold up the rest.
///
/// Its lock is held for calls on files, never across a request.
final class DeliveryLane: Sendable {
    /// How a row of deliveries ended.
    enum Ending: Sendable, Hashable {
        /// Nothing is left that may leave.
        case drained
        /// The next try comes after this pause.
        case paused(Duration)
        /// The task was cancelled.
        case cancelled
    }

    let destination: any AnalyticsDestination
    let rules: DestinationRules
    let consumer: JournalConsumer
    let tracker: Tracker
    let state: Mutex<LaneState>

    private let timeline: Timeline
    private let turn = Turn()

    /// Opens the lane, and settles what the last process left in doubt.
    init(_ entry: AnalyticsConfiguration.Entry, of tracker: Tracker) throws(JournalError) {
        let destination = entry.destination
        self.destination = destination
        self.tracker = tracker
        rules = entry.rules
        timeline = Timeline(tracker.configuration.clock)
        consumer = try tracker.journal.consumer(destination.name, from: entry.start)
        var note = LaneNote(consumer.note)
        if !note.doubtful.isEmpty {
            let doubtful = Set(note.doubtful)
            note.doubtful = []
            try consumer.discard {
                doubtful.contains($0.position)
            } noting: { settled in
                for _ in settled { note.add(.rejected("unconfirmed")) }
                return note.bytes
            }
        }
        var recordLimit = destination.limits.records
        if destination.guarantee == .atMostOnce {
            recordLimit = min(recordLimit, LaneNote.doubtLimit)
        }
        var state = LaneState(note: note, recordLimit: recordLimit)
        state.losses = try consumer.tally()
        state.base = note.sum + state.losses.sum
        self.state = Mutex(state)
        show(state, .idle)
    }

    var name: String { destination.name }

    // MARK: Delivering

    /// Delivers as events come, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let (arrived, hurried) = (tracker.arrivals.generation, tracker.hurry.generation)
            switch await deliver() {
            case .drained:
                await tracker.arrivals.wait(since: arrived)
                let interval = tracker.configuration.deliveryInterval
                await waitForHurry(since: hurried, upTo: interval)
            case .paused(let pause): await waitForHurry(since: hurried, upTo: pause)
            case .cancelled: return
            }
        }
    }

    private func waitForHurry(since generation: UInt64, upTo limit: Duration) async {
        let clock = tracker.configuration.clock
        await tracker.hurry.wait(since: generation, upTo: limit, on: clock)
    }

    /// Delivers what may leave, until nothing is left or a try fails.
    ///
    /// Forced, it tries although the pause after a failure is not over.
    func deliver(isForced: Bool = false) async -> Ending {
        guard await turn.take() else { return .cancelled }
        defer { turn.give() }
        while !Task.isCancelled {
            switch begin(isForced: isForced) {
            case .ending(let ending): return ending
            case .batch(let records):
                let outcome = await destination.deliver(records)
                if let pause = finish(outcome, isCancelled: Task.isCancelled) {
                    return .paused(pause)
                }
            }
        }
        return .cancelled
    }

    private enum Beginning {
        case batch([AnalyticsRecord])
        case ending(Ending)
    }

    /// Makes the next batch.
    private func begin(isForced: Bool) -> Beginning {
        state.withLock { state in
            let now = timeline.now
            let due = isForced ? state.askedUntil : max(state.askedUntil, state.pausedUntil)
            guard now >= due else { return .ending(.paused(due - now)) }
            do throws(JournalError) {
                try fill(&state)
                let count = state.batchCount(within: destination.limits.bytes)
                guard count > 0 else {
                    show(state, .idle)
                    return .ending(.drained)
                }
                if destination.guarantee == .atMostOnce {
                    var note = state.note
                    note.doubtful = state.waiting.prefix(count).map(\.position)
                    // Before the request leaves: nobody sends these again without knowing.
                    try consumer.settle([]) { _ in note.bytes }
                    state.note = note
                }
                state.underWay = count
                show(state, .delivering)
                return .batch(state.waiting.prefix(count).map(\.record))
            } catch {
                let problem = DeliveryProblem("the journal failed: \(error.message)")
                return .ending(.paused(fail(&state, problem, asked: nil)))
            }
        }
    }

    /// Draws the conclusions from an outcome.
    ///
    /// - Returns: How long to wait, nil to go on at once.
    private func finish(_ outcome: DeliveryOutcome, isCancelled: Bool) -> Duration? {
        state.withLock { state in
            let count = state.underWay
            state.underWay = 0
            var fates: [LaneNote.Fate] = []
            var pause: Duration?
            switch outcome {
            case .settled(let rejected):
                fates = (0..<count).map { place in
                    rejected[place].map { .rejected($0.reason) } ?? .delivered
                }
            case .tooLarge where count == 1: fates = [.rejected("tooLarge")]
            case .unacceptable(let rejection) where count == 1:
                fates = [.rejected(rejection.reason)]
            case .tooLarge: state.halve(count, growsSlowly: true)
            case .unacceptable: state.halve(count, growsSlowly: false)
            case .postponed(let problem, let asked):
                pause = isCancelled ? interrupted(state) : fail(&state, problem, asked: asked)
            case .unknown(let problem):
                if destination.guarantee == .atMostOnce {
                    fates = Array(repeating: .rejected("unconfirmed"), count: count)
                }
                pause = isCancelled ? interrupted(state) : fail(&state, problem, asked: nil)
            case .misconfigured(let problem):
                state.failures += 1
                let wait = tracker.configuration.misconfiguredPause
                state.pausedUntil = timeline.now + wait
                show(state, .misconfigured, problem)
                pause = wait
            }
            let isWritten = conclude(fates, &state)
            guard pause == nil else {
                show(state, nil)
                return pause
            }
            guard isWritten else {
                let problem = DeliveryProblem("the journal could not write down what is settled")
                return fail(&state, problem, asked: nil)
            }
            state.failures = 0
            (state.pausedUntil, state.askedUntil) = (.zero, .zero)
            if !fates.isEmpty { state.grow() }
            show(state, .delivering)
            return nil
        }
    }

    /// Settles the first records of those that wait, and takes them out of doubt.
    ///
    /// - Returns: Whether it could be written down.
    private func conclude(_ fates: [LaneNote.Fate], _ state: inout LaneState) -> Bool {
        let settled = zip(state.waiting, fates).map { ($0.position, $1) }
        state.removeFirst(fates.count)
        do throws(JournalError) {
            try settle(Dictionary(settled) { first, _ in first }, &state)
            return true
        } catch {
            // Whatever of it is not settled comes again.
            state.needsRewind = true
            return false
        }
    }

    /// A request that was cancelled says nothing about the destination.
    private func interrupted(_ state: LaneState) -> Duration {
        show(state, .idle)
        return .zero
    }

    private func fail(
        _ state: inout LaneState,
        _ problem: DeliveryProblem,
        asked: Duration?
    ) -> Duration {
        state.failures += 1
        let now = timeline.now
        let pause = Backoff.pause(
            after: state.failures,
            tracker.configuration.retry,
            tracker.configuration.random
        )
        state.pausedUntil = now + pause
        if let asked { state.askedUntil = now + asked }
        show(state, .waiting, problem)
        return max(pause, asked ?? .zero)
    }

    // MARK: Status

    /// The ledger, counted on the disk.
    func ledger() throws(JournalError) -> AnalyticsLedger {
        try state.withLock { state throws(JournalError) in
            state.losses = try consumer.tally()
            return state.ledger(accepted: accepted(state), pending: state.losses.pending)
        }
    }

    /// Brings the counters of the status up to now.
    func refresh() { state.withLock { show($0, nil) } }

    private func accepted(_ state: LaneState) -> Int { state.base + tracker.appendedCount }

    /// The ledger from the counters, where what waits is what is left over.
    private func counted(_ state: LaneState) -> AnalyticsLedger {
        var ledger = state.ledger(accepted: accepted(state), pending: 0)
        ledger.pending = max(0, ledger.accepted - ledger.sum)
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

extension LaneState {
    func ledger(accepted: Int, pending: Int) -> AnalyticsLedger {
        var ledger = AnalyticsLedger(note, losses)
        ledger.accepted = accepted
        ledger.pending = pending
        return ledger
    }
}

extension AnalyticsLedger {
    /// What a destination's counters and the journal say, which is also what was accepted.
    init(_ note: LaneNote, _ tally: ConsumerTally) {
        delivered = note.delivered
        rejected = note.rejected
        if tally.damaged > 0 { rejected["damaged", default: 0] += tally.damaged }
        expired = tally.lost
        purged = note.purged
        pending = tally.pending
        accepted = note.sum + tally.sum
    }
}

extension ConsumerTally {
    /// All records that are not settled by the lane.
    fileprivate var sum: Int { pending + lost + damaged }
}
