internal import KeelCore
internal import KeelJournal
internal import Synchronization

/// Delivers the records of the journal to one destination.
///
/// A lane has at most one request in flight. That keeps events in order, lets each response speak
/// for the destination, and makes a limit for all lanes unnecessary, with which two hanging
/// destinations could hold up the rest.
///
/// The lane's lock is held during file operations, never across a request.
final class DeliveryLane: Sendable {
    /// How a run of deliveries ended.
    enum Ending: Sendable, Hashable {
        /// No deliverable records are left.
        case drained
        /// The next attempt follows after this delay.
        case paused(Duration)
        /// The task was canceled.
        case cancelled
    }

    let destination: any AnalyticsDestination
    let rules: DestinationRules
    let consumer: JournalConsumer
    let tracker: Tracker
    let state: Mutex<LaneState>

    let timeline: Timeline
    private let queue = TaskQueue()

    /// Opens the lane, without scanning the pending records.
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

    /// Delivers events as they arrive, until the task is canceled.
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

    /// Delivers until no deliverable records are left or an attempt fails.
    ///
    /// If forced, ignores the delay after a failure.
    func deliver(isForced: Bool = false) async -> Ending {
        guard await queue.enter() else { return .cancelled }
        defer { queue.leave() }
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
                    // Cheap here, as few records are left to scan.
                    try prepare(&state)
                    show(state, .idle)
                    return .ending(.drained)
                }
                if destination.guarantee == .atMostOnce {
                    var note = state.note
                    note.doubtful = state.waiting.prefix(count).map(\.position)
                    // Stored before the request, so that a restart does not repeat these records.
                    try consumer.acknowledge([]) { _ in note.bytes }
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

    /// Handles the outcome of a batch.
    ///
    /// - Returns: How long to wait; nil to continue immediately.
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
            // The next batch omits the records that the user no longer consents to.
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
                let problem = DeliveryProblem("the journal could not store the acknowledgements")
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

    /// Settles the first of the waiting records, and removes them from doubt.
    ///
    /// - Returns: Whether the journal could be written.
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
            // Records that are not settled will be read again.
            state.needsRewind = true
            return false
        }
    }

    /// Handles a canceled request, which says nothing about the destination.
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
