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

    let timeline: Timeline
    private let turn = Turn()

    /// Opens the lane, without a look at what waits.
    init(_ entry: AnalyticsConfiguration.Entry, of tracker: Tracker) throws(JournalError) {
        let destination = entry.destination
        self.destination = destination
        self.tracker = tracker
        rules = entry.rules
        timeline = Timeline(tracker.configuration.clock)
        consumer = try tracker.journal.consumer(destination.name, from: entry.start)
        var recordLimit = destination.limits.records
        if destination.guarantee == .atMostOnce {
            recordLimit = min(recordLimit, LaneNote.doubtLimit)
        }
        let state = LaneState(note: LaneNote(consumer.note), recordLimit: recordLimit)
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
                let permit = DeliveryPermit(for: records, by: tracker.consents)
                let outcome = await DeliveryPermit.$current.withValue(permit) {
                    guard permit.isValid else { return DeliveryPermit.withdrawn }
                    return await destination.deliver(records)
                }
                if let pause = finish(outcome, permit, isCancelled: Task.isCancelled) {
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
                try rejectDoubtful(&state)
                try fill(&state)
                let count = state.batchCount(within: destination.limits.bytes)
                guard count > 0 else {
                    if let pause = reportSuspects(&state) { return .ending(.paused(pause)) }
                    // There is little left to look at.
                    try prepare(&state)
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
    private func finish(
        _ outcome: DeliveryOutcome,
        _ permit: DeliveryPermit,
        isCancelled: Bool
    ) -> Duration? {
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
            case .unsent(let fitting) where (1..<count).contains(fitting):
                state.limit(to: fitting)
            case .tooLarge, .unacceptable, .unsent:
                let refusal = refuse(outcome, count, &state)
                fates = refusal.fate.map { [$0] } ?? []
                pause = refusal.pause
            // The next batch drops the records that the user no longer consents to.
            case .postponed where !permit.isValid && !isCancelled: break
            case .postponed(let problem, let asked):
                pause = isCancelled ? interrupted(state) : fail(&state, problem, asked: asked)
            case .unknown(let problem):
                if destination.guarantee == .atMostOnce {
                    fates = Array(repeating: .rejected("unconfirmed"), count: count)
                }
                pause = isCancelled ? interrupted(state) : fail(&state, problem, asked: nil)
            case .misconfigured(let problem): pause = misconfigured(&state, problem)
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
            if !fates.isEmpty {
                state.failures = 0
                (state.pausedUntil, state.askedUntil) = (.zero, .zero)
                state.grow()
                if fates.contains(.delivered) { state.take(count) }
            }
            show(state, .delivering)
            return nil
        }
    }

    /// Settles the first records of those that wait, and takes them out of doubt.
    ///
    /// - Returns: Whether it could be written down.
    private func conclude(
        _ fates: [LaneNote.Fate],
        _ state: inout LaneState
    ) -> Bool {
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

    func fail(
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
}
