package import KeelCore
internal import Synchronization

/// Delivers the records of a journal to one receiver, and accounts for each of them.
///
/// - A record waits until the receiver has accepted or refused it, across restarts and outages of any length, unless
///   the journal's bounds remove it. Counters and progress are one file: after a crash, each record is in one count.
/// - After failures the delays grow. A delay that the receiver asks for is respected up to an hour.
/// - A batch that is refused is halved, so that a bad record costs only itself. A receiver that refuses everything
///   holds records back, and gets at most 30 refused requests per minute.
/// - At most one request is in flight, which keeps records in order.
/// - At most one batch is in memory, and the suspects of ``DeliveryQueue``.
///
/// The lane's lock is held during file operations, never across a request.
package final class DeliveryLane<Receiver: DeliveryReceiver>: Sendable {
    package enum Ending: Sendable, Hashable {
        /// No deliverable records are left.
        case drained
        /// The next attempt follows after this delay.
        case paused(Duration)
        /// The task was canceled.
        case cancelled
    }

    struct State {
        var status: DeliveryStatus
        var queue: DeliveryQueue<Receiver.Item>
        /// How many waiting items, from the first, are in the current request.
        var underWay = 0
        /// Records in the current request that were discarded, and their fates unless they arrive.
        var doomed: [JournalPosition: DeliveryFate] = [:]
        /// Whether the note may contain records that the previous process left in doubt.
        var hasOldDoubts = true
        /// Whether records without a final outcome have to be read again.
        var needsRewind = false
        var refusals = RefusalPace()
        /// When the next attempt is due, unless forced.
        var pausedUntil = Duration.zero
        /// When the receiver wants the next attempt; applies even if forced.
        var askedUntil = Duration.zero
    }

    package let receiver: Receiver
    let consumer: JournalConsumer
    let state: Mutex<State>
    private let retry: RetryPolicy
    private let misconfigurationDelay: Duration
    private let clock: any Clock<Duration>
    private let random: @Sendable () -> UInt64
    private let timeline: Timeline
    private let turns = TaskQueue()

    /// Opens the lane, without scanning the pending records.
    ///
    /// - Parameters:
    ///   - receiver: The receiver.
    ///   - consumer: The consumer whose records are delivered, used by the lane only.
    ///   - retry: The delays between failed attempts; limits on attempts and time are ignored.
    ///   - misconfigurationDelay: The delay after the receiver refused everything.
    ///   - clock: The clock for delays.
    ///   - random: Returns random bits for delays.
    /// - Throws: ``JournalError`` if the lost records cannot be counted.
    package init(
        _ receiver: Receiver,
        from consumer: JournalConsumer,
        retry: RetryPolicy,
        misconfigurationDelay: Duration,
        clock: any Clock<Duration>,
        random: @escaping @Sendable () -> UInt64
    ) throws(JournalError) {
        self.receiver = receiver
        self.consumer = consumer
        self.retry = retry
        self.misconfigurationDelay = misconfigurationDelay
        self.clock = clock
        self.random = random
        timeline = Timeline(clock)
        let limit = receiver.limits.records
        let queue = DeliveryQueue<Receiver.Item>(
            recordLimit: receiver.repeatsUnknown ? limit : min(limit, DeliveryNote.doubtLimit)
        )
        let status = DeliveryStatus(DeliveryNote(consumer.note), try consumer.losses())
        state = Mutex(State(status: status, queue: queue))
        receiver.show(status)
    }

    // MARK: Delivering

    /// Delivers records as they arrive, until the task is canceled.
    ///
    /// - Parameters:
    ///   - interval: How long records are collected before they are sent.
    ///   - hurry: Ends the interval, and the delay after a failure.
    ///   - patience: Returns the longest delay before records of another process are noticed; nil if there are none.
    ///     Called after each delivery, since another process may come later.
    package func run(
        collectingFor interval: Duration,
        until hurry: Signal = Signal(),
        patience: @Sendable () -> Duration? = { nil }
    ) async {
        while !Task.isCancelled {
            let hurried = hurry.generation
            switch await deliver() {
            case .drained:
                await consumer.waitForRecords(upTo: patience(), clock: clock)
                await hurry.wait(since: hurried, upTo: interval, on: clock)
            case .paused(let pause): await hurry.wait(since: hurried, upTo: pause, on: clock)
            case .cancelled: return
            }
        }
    }

    /// Delivers until no deliverable records are left or an attempt fails.
    ///
    /// If forced, ignores the delay after a failure, but not one that the receiver asked for.
    package func deliver(isForced: Bool = false) async -> Ending {
        guard await turns.enter() else { return .cancelled }
        defer { turns.leave() }
        while !Task.isCancelled {
            switch begin(isForced: isForced) {
            case .ending(let ending): return ending
            case .batch(let items, let lost):
                let reply = await receiver.send(items, lost: lost)
                if let pause = finish(reply, isCancelled: Task.isCancelled) {
                    return .paused(pause)
                }
            }
        }
        return .cancelled
    }

    private enum Beginning {
        case batch([Receiver.Item], lost: Int)
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
                let batch = state.queue.batch(within: receiver.limits.bytes)
                guard !batch.isEmpty else {
                    guard state.queue.suspects.isEmpty else {
                        // With no other records, a bad one looks like a receiver that refuses all.
                        giveUp(&state)
                        let told = state.status.failure?.text ?? ""
                        return .ending(
                            .paused(fail(&state, "All pending records are refused: \(told)"))
                        )
                    }
                    // Cheap here, as few records are left to scan.
                    _ = try prepare(&state)
                    if state.status.failures == 0 { state.status.failure = nil }
                    show(&state, .idle)
                    return .ending(.drained)
                }
                if !receiver.repeatsUnknown {
                    var note = state.status.note
                    note.doubtful = batch.map(\.position)
                    // Stored before the request, so that a restart does not repeat these records.
                    try consumer.acknowledge([]) { _ in note.bytes }
                    state.status.note = note
                }
                state.underWay = batch.count
                show(&state, .delivering)
                return .batch(batch.map(\.item), lost: state.status.losses.lost)
            } catch {
                // Records that were read before the failure would otherwise be passed over.
                state.needsRewind = true
                return .ending(.paused(fail(&state, "The journal failed: \(error.message)")))
            }
        }
    }

    /// Handles the outcome of a batch; returns how long to wait, or nil to continue immediately.
    private func finish(_ reply: DeliveryReply, isCancelled: Bool) -> Duration? {
        state.withLock { state in
            let count = state.underWay
            state.underWay = 0
            var fates: [DeliveryFate] = []
            var pause: Duration?
            switch reply {
            case .settled(let rejected):
                fates = (0..<count).map { place in
                    rejected[place].map { .rejected($0) } ?? .delivered
                }
            case .unsent(let fitting) where (1..<count).contains(fitting):
                state.queue.limit(to: fitting)
            case .unsent:
                let detail = "A record fits no request."
                (fates, pause) = refuse(count, ("unsendable", detail, false), &state)
            case .refused(let reason, let detail, let isTooLarge):
                (fates, pause) = refuse(count, (reason, detail, isTooLarge), &state)
            case .withdrawn where !isCancelled: break
            // A canceled request says nothing about the receiver.
            case .withdrawn,
                .postponed where isCancelled:
                pause = interrupted(&state)
            case .postponed(let failure, let asked): pause = fail(&state, failure, asked: asked)
            case .unknown(let failure):
                if !receiver.repeatsUnknown {
                    fates = Array(repeating: .rejected("unconfirmed"), count: count)
                }
                pause = isCancelled ? interrupted(&state) : fail(&state, failure)
            case .misconfigured(let failure): pause = misconfigured(&state, failure)
            }
            let isWritten = conclude(fates, &state)
            guard pause == nil else {
                show(&state)
                return pause
            }
            guard isWritten else {
                return fail(&state, "The journal could not store the acknowledgements.")
            }
            if !fates.isEmpty {
                state.status.failures = 0
                state.status.failure = nil
                (state.pausedUntil, state.askedUntil) = (.zero, .zero)
                state.queue.grow()
                if fates.contains(.delivered) { state.queue.accept() }
            }
            show(&state, .delivering)
            return nil
        }
    }

    /// Settles the first of the waiting records, and removes them from doubt.
    ///
    /// - Returns: Whether the journal could be written.
    private func conclude(_ fates: [DeliveryFate], _ state: inout State) -> Bool {
        let settled = zip(state.queue.waiting, fates).map { ($0.position, $1) }
        var all = Dictionary(settled) { first, _ in first }
        state.queue.removeFirst(fates.count)
        if !state.doomed.isEmpty {
            let doomed = state.doomed
            state.doomed = [:]
            let rest = state.queue.review { doomed[$0.position].map { .settle($0) } }
            all.merge(rest) { first, _ in first }
        }
        do throws(JournalError) {
            try settle(all, &state)
            return true
        } catch {
            state.needsRewind = true
            return false
        }
    }

    // MARK: Failures

    /// Handles a batch that was refused as a whole.
    ///
    /// - Returns: The fate of its record, if it is single and given up, and how long to wait; nil
    ///   to continue immediately.
    private func refuse(
        _ count: Int,
        _ refusal: (reason: String, detail: String, isTooLarge: Bool),
        _ state: inout State
    ) -> ([DeliveryFate], Duration?) {
        let isGivenUp = state.queue.refuse(count, isTooLarge: refusal.isTooLarge)
        let fates: [DeliveryFate] = isGivenUp ? [.rejected(refusal.reason)] : []
        let now = timeline.now
        let pace = state.refusals.pause(afterRefusalAt: now)
        state.status.failure = DeliveryFailure(refusal.detail)
        if let pace {
            state.askedUntil = max(state.askedUntil, now + pace)
            state.status.activity = .waiting
        }
        guard state.queue.isHopeless else { return (fates, pace) }
        giveUp(&state)
        let failure = DeliveryFailure("Every record is refused: \(refusal.detail)")
        return (fates, misconfigured(&state, failure))
    }

    /// Stops the search for the refused record; the waiting records are read again.
    private func giveUp(_ state: inout State) {
        state.queue.giveUp()
        state.needsRewind = true
    }

    private func misconfigured(_ state: inout State, _ failure: DeliveryFailure) -> Duration {
        state.status.failures += 1
        state.status.failure = failure
        state.pausedUntil = timeline.now + misconfigurationDelay
        show(&state, .misconfigured)
        return misconfigurationDelay
    }

    private func interrupted(_ state: inout State) -> Duration {
        show(&state, .idle)
        return .zero
    }

    private func fail(_ state: inout State, _ text: String) -> Duration {
        fail(&state, DeliveryFailure(text))
    }

    private func fail(
        _ state: inout State,
        _ failure: DeliveryFailure,
        asked: Duration? = nil
    ) -> Duration {
        state.status.failures += 1
        state.status.failure = failure
        let now = timeline.now
        let pause = retry.pause(after: state.status.failures, random)
        state.pausedUntil = now + pause
        let asked = asked.map { min($0, .seconds(3_600)) }
        if let asked { state.askedUntil = max(state.askedUntil, now + asked) }
        show(&state, .waiting)
        return max(pause, asked ?? .zero)
    }

    // MARK: Status

    package var status: DeliveryStatus {
        state.withLock { state in
            state.status.appended = consumer.journal.statistics.appended
            return state.status
        }
    }

    package func refresh() { state.withLock { show(&$0) } }

    func show(_ state: inout State, _ activity: DeliveryStatus.Activity? = nil) {
        state.status.appended = consumer.journal.statistics.appended
        if let activity { state.status.activity = activity }
        receiver.show(state.status)
    }
}
