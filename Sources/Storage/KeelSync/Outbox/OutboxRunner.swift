internal import KeelCore
internal import KeelStorage
internal import Synchronization

/// Sends the writes of an outbox.
///
/// One task plans, and starts a child task for each key with writes to send. An entry is leased before it is sent, at
/// the revision that was read, so only one of several runners succeeds. Only the first entry of a key is leased.
final class OutboxRunner<Sender: OutboxSender>: Sendable {
    struct State {
        var activeKeys: Set<String> = []
        var isOnline = true
        /// Whether to ignore the retry delays of writes that did not reach the server, because the connection is back.
        var ignoresPausesOfUnreached = false
        /// The keys that were being sent at that time: an attempt that fails afterwards is repeated once at once.
        var unpausedKeys: Set<String> = []
        var retryCount: Int
        /// Unexpired leases of other runners, and since when they have been seen unchanged.
        var claims: [String: (revision: Revision, since: Duration)] = [:]
        var damaged: [String: DamagedOutboxEntry] = [:]
        /// The keys for which the store failed to record a lease or an outcome, until the next attempt.
        var stalledKeys: [String: (failures: Int, until: Duration)] = [:]
    }

    let core: OutboxCore
    let sender: Sender
    let owner: String
    let timer: DeadlineTimer
    let state: Mutex<State>

    init(_ core: OutboxCore, _ sender: Sender) {
        self.core = core
        self.sender = sender
        owner = core.configuration.makeRunnerName()
        timer = DeadlineTimer.on(core.configuration.clock)
        state = Mutex(State(retryCount: core.retryCount.load(ordering: .relaxed)))
    }

    typealias Connectivity = @Sendable (_ set: @Sendable (Bool) -> Void) async -> Void

    func run(connectivity: Connectivity?) async throws(OutboxError) {
        let failure = await withDiscardingTaskGroup { group -> OutboxError? in
            if let connectivity {
                group.addTask { await connectivity { self.set(isOnline: $0) } }
            }
            let failure = await self.loop(in: &group, untilIdle: false)
            group.cancelAll()
            return failure
        }
        if let failure { throw failure }
    }

    func flush() async throws(OutboxError) {
        let failure = await withDiscardingTaskGroup { group -> OutboxError? in
            await self.loop(in: &group, untilIdle: true)
        }
        if let failure { throw failure }
    }

    private func set(isOnline: Bool) {
        state.withLock { state in
            if isOnline, !state.isOnline { state.ignoresPausesOfUnreached = true }
            state.isOnline = isOnline
        }
        core.ring()
    }

    // MARK: Planning

    private func loop(
        in group: inout DiscardingTaskGroup,
        untilIdle: Bool
    ) async -> OutboxError? {
        var backlog: [OutboxPlan.Lane] = []
        var nextTime: Timestamp?
        var seenChanges = -1
        // Time alone can make entries ready, and other processes do not raise this signal.
        var hasTimePassed = false
        var failures = 0
        var nextSurvey = timer.now
        while !Task.isCancelled {
            let generation = core.signal.generation
            // Before planning: a plan leaves out the later writes of a key that is being sent.
            let isIdle = state.withLock { $0.activeKeys.isEmpty }
            let changes = core.changeCount.load(ordering: .relaxed)
            var pause = core.configuration.pollInterval
            do throws(StorageError) {
                if timer.now >= nextSurvey {
                    try await core.forgetOutcomes()
                    note(try await core.damagedEntries(), areAll: true)
                    nextSurvey = timer.now + .seconds(3_600)
                }
                if backlog.isEmpty || changes != seenChanges || hasTimePassed {
                    (backlog, nextTime) = try await plan()
                    seenChanges = changes
                    try await core.lookUpAwaited()
                }
                failures = 0
            } catch {
                guard error.isTransient, !untilIdle else {
                    return error.isCancellation ? nil : OutboxError(error)
                }
                failures += 1
                pause = storePause(failures)
                core.configuration.onEvent(.storeFailed(error, pause: pause))
            }
            if untilIdle, isIdle, backlog.isEmpty || isOffline { return nil }
            start(&backlog, in: &group)
            // After a failure of the store, a time that has passed would leave no pause.
            if failures == 0, let nextTime {
                pause = min(pause, nextTime.duration(since: core.now))
            }
            if untilIdle {
                await core.signal.wait(since: generation)
            } else {
                await core.signal.wait(since: generation, upTo: pause, on: core.configuration.clock)
                hasTimePassed = core.signal.generation == generation
            }
        }
        return nil
    }

    var isOffline: Bool { state.withLock { !$0.isOnline } }

    func storePause(_ failures: Int) -> Duration {
        core.configuration.retry.maximumDelay(before: failures) * core.configuration.jitter()
    }

    /// - Returns: The writes by key, and the earliest time at which a waiting one can be sent.
    private func plan() async throws(StorageError) -> ([OutboxPlan.Lane], Timestamp?) {
        let holdsKeys = core.configuration.rejection == .holdsKey
        var heldKeys: Set<String> = []
        var isHeld = false
        for damaged in try await knownDamaged() where holdsKeys {
            if let key = damaged.key { heldKeys.insert(key) } else { isHeld = true }
        }
        // Before reading: an attempt that ends in the meantime changes entries, which are planned later.
        let retryCount = core.retryCount.load(ordering: .relaxed)
        let (initial, stallEnd) = state.withLock { state in
            defer { state.ignoresPausesOfUnreached = false }
            if state.retryCount != retryCount { state.ignoresPausesOfUnreached = true }
            state.retryCount = retryCount
            let unpausedKeys = state.unpausedKeys.subtracting(state.activeKeys)
            state.unpausedKeys.subtract(unpausedKeys)
            if state.ignoresPausesOfUnreached { state.unpausedKeys.formUnion(state.activeKeys) }
            let now = timer.now
            // A stalled key is forgotten an hour after its delay, in case another runner has sent its writes.
            state.stalledKeys = state.stalledKeys.filter { now - $0.value.until < .seconds(3_600) }
            let stalled = state.stalledKeys.filter { $0.value.until > now }
            let situation = OutboxPlan.Situation(
                now: core.now,
                owner: owner,
                activeKeys: state.activeKeys,
                heldKeys: heldKeys.union(stalled.keys),
                isHeld: isHeld,
                ignoresPausesOfUnreached: state.ignoresPausesOfUnreached,
                unpausedKeys: unpausedKeys
            )
            let wait = stalled.values.map { $0.until - now }.min()
            return (situation, wait.map { situation.now.advanced(by: $0) })
        }
        do throws(StorageError) {
            let plan = try await self.plan(in: initial)
            return (plan.lanes, [plan.nextTime, stallEnd].compactMap { $0 }.min())
        } catch {
            // The next plan ignores the delays in place of this one.
            state.withLock { state in
                if initial.ignoresPausesOfUnreached { state.ignoresPausesOfUnreached = true }
                state.unpausedKeys.formUnion(initial.unpausedKeys)
            }
            throw error
        }
    }

    private func plan(
        in situation: OutboxPlan.Situation
    ) async throws(StorageError) -> OutboxPlan {
        let holdsKeys = core.configuration.rejection == .holdsKey
        // Rejected entries that hold their keys are read with the others: between two reads, an entry can be rejected
        // or sent again, and neither read would contain it.
        let status = holdsKeys ? nil : OutboxEntry.pendingStatus
        var plan = OutboxPlan(situation)
        var last: Document?
        repeat {
            let page = try await core.page(status, after: last, limit: 200)
            note(page.items.compactMap(\.damaged), areAll: false)
            for item in page.items {
                switch item {
                case .entry(let entry) where entry.isRejected: plan.hold(entry.write.key)
                case .entry(let entry): plan.add(withoutOutlivedClaim(entry))
                case .damaged(let damaged): if holdsKeys { plan.hold(damaged.key) }
                }
            }
            last = page.last
        } while last != nil && plan.lanes.count < core.configuration.concurrency
        return plan
    }

    private func knownDamaged() async throws(StorageError) -> [DamagedOutboxEntry] {
        let ids = state.withLock { Array($0.damaged.keys) }
        guard !ids.isEmpty else { return [] }
        let damaged = try await core.items(withIDs: ids).compactMap { $0?.damaged }
        note(damaged, areAll: true)
        return damaged
    }

    private func note(_ damaged: [DamagedOutboxEntry], areAll: Bool) {
        let new = state.withLock { state in
            let new = damaged.filter { state.damaged[$0.id] == nil }
            if areAll { state.damaged = [:] }
            for entry in damaged { state.damaged[entry.id] = entry }
            return new
        }
        for entry in new {
            core.receipts[entry.id]?.fulfil(
                .failure(OutboxError(.damaged, write: entry.id, cause: entry.error))
            )
            core.configuration.onEvent(.damaged(entry))
        }
    }

    /// Ends a lease that has been seen unchanged for the length of a lease.
    ///
    /// If only the time of day determines its end, a clock that was set back would extend the lease.
    private func withoutOutlivedClaim(_ entry: OutboxEntry) -> OutboxEntry {
        state.withLock { state in
            guard entry.claimEnd != nil, !entry.isClaimCertain, entry.owner != owner else {
                state.claims[entry.id] = nil
                return entry
            }
            guard let claim = state.claims[entry.id], claim.revision == entry.revision else {
                state.claims[entry.id] = (entry.revision, timer.now)
                return entry
            }
            return timer.now - claim.since >= claimLength ? entry.withoutClaim : entry
        }
    }

    var claimLength: Duration {
        core.configuration.sendTimeout + core.configuration.leaseMargin
    }

    private func start(_ backlog: inout [OutboxPlan.Lane], in group: inout DiscardingTaskGroup) {
        while !backlog.isEmpty {
            let lane = backlog[0]
            let isTaken = state.withLock { state in
                guard state.isOnline,
                    state.activeKeys.count < max(1, core.configuration.concurrency)
                else { return false }
                state.activeKeys.insert(lane.key)
                return true
            }
            guard isTaken else { return }
            backlog.removeFirst()
            group.addTask {
                await self.send(lane)
                self.state.withLock { _ = $0.activeKeys.remove(lane.key) }
                self.core.signal.raise()
            }
        }
    }
}

extension Timestamp {
    /// Returns the time elapsed since another time; zero if that is later.
    func duration(since other: Timestamp) -> Duration {
        .microseconds(max(0, microseconds.subtractingReportingOverflow(other.microseconds).0))
    }
}
