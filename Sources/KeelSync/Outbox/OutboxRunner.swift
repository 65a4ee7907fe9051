internal import KeelCore
internal import KeelStorage
internal import Synchronization

/// Sends what is in an outbox.
///
/// One task plans and starts a child task for each key that has something to send; these ring the
/// bell when they end. An entry is claimed before it is sent, at the revision that was read: of
/// several runners only one succeeds. It is claimed only as the first of its key, so that the next
/// of the key is claimed by nobody before it is gone.
final class OutboxRunner<Sender: OutboxSender>: Sendable {
    private struct State {
        var activeKeys: Set<String> = []
        var isOnline = true
        /// Pauses of writes that reached nobody are over, since there is a way again.
        var ignoresPausesOfUnreached = false
        var isStopped = false
        /// Claims of others that have not ended, and since when they have been seen unchanged.
        var claims: [String: (revision: Revision, since: Duration)] = [:]
    }

    private let core: OutboxCore
    private let sender: Sender
    private let owner: String
    private let timer: DeadlineTimer
    private let state = Mutex(State())

    init(_ core: OutboxCore, _ sender: Sender) {
        self.core = core
        self.sender = sender
        owner = core.configuration.makeOwner()
        timer = DeadlineTimer.on(core.configuration.clock)
    }

    typealias Connectivity = @Sendable (_ set: @Sendable (Bool) -> Void) async -> Void

    /// Sends until the task is cancelled.
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

    /// Sends what can be sent now.
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
        // Time alone can change what may be sent, and other processes ring no bell here.
        var hasTimePassed = false
        var failures = 0
        var nextForgetting = core.now
        while !Task.isCancelled {
            let generation = core.signal.generation
            let changes = core.changeCount.load(ordering: .relaxed)
            var pause = core.configuration.pollInterval
            do throws(StorageError) {
                if backlog.isEmpty || changes != seenChanges || hasTimePassed {
                    (backlog, nextTime) = try await plan()
                    seenChanges = changes
                    try await core.lookUpAwaited()
                }
                if core.now >= nextForgetting {
                    try await core.forgetOutcomes()
                    nextForgetting = core.now.advanced(by: .seconds(3_600))
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
            start(&backlog, in: &group)
            let isIdle = state.withLock { $0.activeKeys.isEmpty }
            if untilIdle, isIdle, backlog.isEmpty || isOffline { return nil }
            if let nextTime { pause = min(pause, nextTime.duration(since: core.now)) }
            if untilIdle {
                await core.signal.wait(since: generation)
            } else {
                await core.signal.wait(since: generation, upTo: pause, on: core.configuration.clock)
                hasTimePassed = core.signal.generation == generation
            }
        }
        return nil
    }

    private var isOffline: Bool { state.withLock { !$0.isOnline } }

    private func storePause(_ failures: Int) -> Duration {
        core.configuration.retry.longestDelay(before: failures) * core.configuration.jitter()
    }

    /// Reads on until there is enough to do, or nothing more.
    private func plan() async throws(StorageError) -> ([OutboxPlan.Lane], Timestamp?) {
        var heldKeys: Set<String> = []
        if core.configuration.rejection == .holdsKey {
            let rejected = try await core.allEntries(OutboxEntry.rejectedStatus)
            heldKeys = Set(rejected.map(\.write.key))
        }
        // Before reading: who ends meanwhile has changed what is read, and is looked at later.
        let situation = state.withLock { state in
            defer { state.ignoresPausesOfUnreached = false }
            return OutboxPlan.Situation(
                now: core.now,
                owner: owner,
                activeKeys: state.activeKeys,
                heldKeys: heldKeys,
                ignoresPausesOfUnreached: state.ignoresPausesOfUnreached
            )
        }
        var plan = OutboxPlan(situation)
        var last: OutboxEntry?
        let pageSize = 200
        repeat {
            let page = try await core.entries(
                OutboxEntry.pendingStatus,
                after: last,
                limit: pageSize
            )
            for entry in page { plan.add(withoutOutlivedClaim(entry)) }
            last = page.count == pageSize ? page.last : nil
        } while last != nil && plan.lanes.count < core.configuration.concurrency
        return (plan.lanes, plan.nextTime)
    }

    /// Ends a claim that has been seen unchanged for longer than any lasts.
    ///
    /// Its end is a time of day: a clock that was set back would make it last until then.
    private func withoutOutlivedClaim(_ entry: OutboxEntry) -> OutboxEntry {
        let configuration = core.configuration
        return state.withLock { state in
            guard let end = entry.leaseEnd, end > core.now, entry.owner != owner else {
                state.claims[entry.id] = nil
                return entry
            }
            guard let claim = state.claims[entry.id], claim.revision == entry.revision else {
                state.claims[entry.id] = (entry.revision, timer.now)
                return entry
            }
            let isOutlived =
                timer.now - claim.since >= configuration.sendTimeout + configuration.leaseMargin
            return isOutlived ? entry.withoutClaim : entry
        }
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

    // MARK: Sending

    private func send(_ lane: OutboxPlan.Lane) async {
        for entry in lane.entries {
            guard !Task.isCancelled, !isOffline else { return }
            guard let claimed = try? await claim(entry) else { return }
            guard await deliver(claimed) else { return }
        }
    }

    /// Claims an entry; nil if it is not as it was read.
    private func claim(_ entry: OutboxEntry) async throws(StorageError) -> OutboxEntry? {
        let configuration = core.configuration
        let end = core.now.advanced(by: configuration.sendTimeout + configuration.leaseMargin)
        let revision = try await core.change(
            entry,
            [
                FieldChange("owner", .set(.string(owner))),
                FieldChange("leaseEnd", .set(.timestamp(end))),
            ]
        )
        return revision.map { entry.claimed(at: $0) }
    }

    /// Makes one attempt and writes down what came of it.
    ///
    /// - Returns: Whether the next entry of the key may follow.
    private func deliver(_ entry: OutboxEntry) async -> Bool {
        let delivery = OutboxDelivery(
            entry.write,
            idempotencyKey: entry.idempotencyKey,
            attempt: entry.tries + 1
        )
        let limit = timer.now + core.configuration.sendTimeout
        let (verdict, wasReached) = await timer.run(until: limit) { [sender] in
            await sender.send(delivery)
        }
        let isStopped = Task.isCancelled
        // The outcome is written down even if the runner is being ended: the next one would have to
        // wait until the claim is over. The task is waited for here and cannot outlive the runner.
        return await Task { [self] in
            switch verdict {
            case .accepted(let reply): return await accept(entry, reply)
            case .rejected(let reason): return await reject(entry, reason, isRefused: true)
            case .failed where isStopped, .unreachable where isStopped:
                return await giveBack(entry)
            case .failed(let reason, let asked):
                let reason = wasReached ? "The attempt took too long." : reason
                return await postpone(entry, reason, asked: asked, counts: true)
            case .unreachable(let reason):
                return await postpone(entry, reason, asked: nil, counts: false)
            }
        }.value
    }

    private func accept(_ entry: OutboxEntry, _ reply: [UInt8]) async -> Bool {
        let wasRemoved = await settled {
            () async throws(StorageError) in
            try await self.core.remove(entry.id, as: .accepted, if: .revision(entry.revision))
        }
        core.receipts[entry.id]?.fulfil(.success(OutboxReply(body: reply)))
        core.configuration.onEvent(.accepted(entry.write))
        return wasRemoved
    }

    private func reject(
        _ entry: OutboxEntry,
        _ reason: String,
        isRefused: Bool
    ) async -> Bool {
        let isSettled = await settled { () async throws(StorageError) in
            try await self.core.change(
                entry,
                [
                    FieldChange("status", .set(.string(OutboxEntry.rejectedStatus))),
                    FieldChange("isRefused", .set(.boolean(isRefused))),
                    FieldChange("attempts", .set(.integer(Int64(entry.attempts + 1)))),
                    FieldChange("lastFailure", .set(.string(reason))),
                    FieldChange("owner", .remove), FieldChange("leaseEnd", .remove),
                    FieldChange("notBefore", .remove),
                ]
            ) != nil
        }
        guard isSettled else { return false }
        core.receipts[entry.id]?.fulfil(.failure(.rejected(entry.id, reason)))
        core.configuration.onEvent(.rejected(entry.write, reason: reason))
        return core.configuration.rejection == .letsOthersPass
    }

    private static var shortestPauseOfUnreached: Duration { .milliseconds(100) }

    private func postpone(
        _ entry: OutboxEntry,
        _ reason: String,
        asked: Duration?,
        counts: Bool
    ) async -> Bool {
        let policy = core.configuration.retry
        let attempts = entry.attempts + (counts ? 1 : 0)
        // An outage is over with the first attempt that reaches the server: pauses begin again.
        let position = counts ? attempts : entry.tries + 1
        let drawn = policy.longestDelay(before: position) * core.configuration.jitter()
        // Attempts that reach nobody are not counted: without a pause they would never end.
        let pause = max(drawn, asked ?? .zero, counts ? .zero : Self.shortestPauseOfUnreached)
        let now = core.now
        let age = now.duration(since: entry.enqueuedAt)
        if counts,
            attempts >= policy.attempts || policy.totalLimit.map({ age + pause > $0 }) ?? false
        {
            return await reject(entry, reason, isRefused: false)
        }
        _ = await settled { () async throws(StorageError) in
            try await self.core.change(
                entry,
                [
                    FieldChange("attempts", .set(.integer(Int64(attempts)))),
                    FieldChange("tries", .set(.integer(Int64(entry.tries + 1)))),
                    FieldChange("isUnreached", .set(.boolean(!counts))),
                    FieldChange("lastFailure", .set(.string(reason))),
                    FieldChange("notBefore", .set(.timestamp(now.advanced(by: pause)))),
                    FieldChange("owner", .remove), FieldChange("leaseEnd", .remove),
                ]
            ) != nil
        }
        core.configuration.onEvent(.postponed(entry.write, reason: reason, pause: pause))
        return false
    }

    /// Ends the claim on an entry whose attempt was broken off.
    private func giveBack(_ entry: OutboxEntry) async -> Bool {
        _ = await settled { () async throws(StorageError) in
            try await self.core.change(
                entry,
                [FieldChange("owner", .remove), FieldChange("leaseEnd", .remove)]
            ) != nil
        }
        return false
    }

    /// Writes an outcome down, a few times if need be.
    ///
    /// What cannot be written down is lost with the claim: the write is then sent again, under the
    /// key that the server knows.
    private func settled(_ body: () async throws(StorageError) -> Bool) async -> Bool {
        let policy = RetryPolicy(attempts: 3, baseDelay: .milliseconds(50))
        let isSettled = try? await withRetry(policy, clock: core.configuration.clock) {
            _ async throws(StorageError) in try await body()
        }
        return isSettled ?? false
    }
}

extension OutboxEntry {
    /// The entry after it was claimed.
    fileprivate func claimed(at revision: Revision) -> OutboxEntry {
        OutboxEntry(self, revision: revision)
    }
}

extension Timestamp {
    /// How long after another time this is; zero if it is before it.
    func duration(since other: Timestamp) -> Duration {
        .microseconds(max(0, microseconds.subtractingReportingOverflow(other.microseconds).0))
    }
}
