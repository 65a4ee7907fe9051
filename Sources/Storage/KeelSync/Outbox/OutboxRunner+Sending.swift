internal import KeelCore
internal import KeelStorage
internal import Synchronization

extension OutboxRunner {
    func send(_ lane: OutboxPlan.Lane) async {
        for entry in lane.entries {
            guard !Task.isCancelled, !isOffline else { return }
            let begun = timer.now
            let claimed: OutboxEntry?
            do throws(StorageError) {
                claimed = try await claim(entry)
            } catch {
                stall(lane.key, error)
                return
            }
            guard let claimed else { return }
            // The rest of the lease has to last for an attempt.
            guard timer.now - begun <= core.configuration.leaseMargin else {
                let reason = "The store took too long to record the lease."
                _ = await Task { await postpone(claimed, reason, asked: nil, counts: false) }.value
                return
            }
            guard await deliver(claimed) else { return }
        }
    }

    private func stall(_ key: String, _ error: StorageError) {
        guard !error.isCancellation else { return }
        let failures = state.withLock { ($0.stalledKeys[key]?.failures ?? 0) + 1 }
        let pause = max(storePause(failures), Self.shortestPause)
        state.withLock { $0.stalledKeys[key] = (failures, timer.now + pause) }
        core.configuration.onEvent(.storeFailed(error, pause: pause))
    }

    private func claim(_ entry: OutboxEntry) async throws(StorageError) -> OutboxEntry? {
        // Counted before the attempt, which may end with the process.
        let tries = entry.tries + 1
        let claim =
            [
                FieldChange("tries", .set(.integer(Int64(tries)))),
                // Until the attempt turns out not to have reached the server.
                FieldChange("isInDoubt", .set(.boolean(true))),
            ] + OutboxEntry.claiming(for: owner, at: core.moment, lasting: claimLength)
        return try await core.change(entry, claim).map { revision in
            OutboxEntry(entry, revision: revision, tries: tries)
        }
    }

    /// Makes one attempt and records its outcome; returns whether the next entry of the key may follow.
    private func deliver(_ entry: OutboxEntry) async -> Bool {
        let delivery = OutboxDelivery(
            entry.write,
            idempotencyKey: entry.idempotencyKey,
            attempt: entry.tries,
            mayHaveArrived: entry.isInDoubt
        )
        let count = core.resendCount.load(ordering: .relaxed)
        let limit = timer.now + core.configuration.sendTimeout
        let (verdict, wasReached) = await timer.run(until: limit) { [sender] in
            await sender.send(delivery)
        }
        let isStopped = Task.isCancelled
        // Records the outcome even if the runner is being canceled, because the next runner would otherwise wait until
        // the lease expires. The task is awaited here and cannot outlive the runner.
        return await Task { [self] in
            switch verdict {
            case .accepted(let reply): return await accept(entry, reply, since: count)
            case .rejected(let reason): return await reject(entry, reason, isRefused: true)
            case .failed where isStopped, .unreachable where isStopped:
                return await giveBack(entry)
            case .failed(let reason, let asked):
                let reason = wasReached ? "The attempt timed out." : reason
                return await postpone(entry, reason, asked: asked, counts: true)
            case .unreachable(let reason):
                return await postpone(entry, reason, asked: nil, counts: false)
            }
        }.value
    }

    private func accept(
        _ entry: OutboxEntry,
        _ reply: [UInt8],
        since count: Int
    ) async -> Bool {
        let reply = OutboxReply(body: reply)
        // The store shows the acceptance, without the reply, before the receipt is completed.
        core.replies.withLock { $0[entry.id] = reply }
        let wasRemoved = await settled(entry) { () async throws(StorageError) in
            try await self.core.remove(entry.id, as: .accepted, if: .revision(entry.revision))
        }
        // If the attempt has outlasted its lease, the app may have edited the write meanwhile, in any process.
        var isCurrent = wasRemoved
        if !wasRemoved { isCurrent = await !isEdited(entry) }
        if isCurrent { core.receipts[entry.id]?.fulfil(.success(reply), since: count) }
        core.replies.withLock { $0[entry.id] = nil }
        core.configuration.onEvent(.accepted(entry.write))
        return wasRemoved
    }

    private func isEdited(_ entry: OutboxEntry) async -> Bool {
        guard let now = try? await core.item(entry.id)?.entry else { return false }
        return now.generation != entry.generation
    }

    private func reject(
        _ entry: OutboxEntry,
        _ reason: String,
        isRefused: Bool
    ) async -> Bool {
        let count = core.resendCount.load(ordering: .relaxed)
        let isSettled = await settled(entry) { () async throws(StorageError) in
            try await self.core.change(
                entry,
                [
                    FieldChange("status", .set(.string(OutboxEntry.rejectedStatus))),
                    FieldChange("isRefused", .set(.boolean(isRefused))),
                    FieldChange("attempts", .set(.integer(Int64(entry.attempts + 1)))),
                    FieldChange("lastFailure", .set(.string(reason))),
                ] + OutboxEntry.unclaiming + OutboxEntry.unpausing
            ) != nil
        }
        guard isSettled else { return false }
        core.receipts[entry.id]?.fulfil(.failure(.rejected(entry.id, reason)), since: count)
        core.configuration.onEvent(.rejected(entry.write, reason: reason))
        return core.configuration.rejection == .continuesKey
    }

    private static var shortestPause: Duration { .milliseconds(100) }

    private func postpone(
        _ entry: OutboxEntry,
        _ reason: String,
        asked: Duration?,
        counts: Bool
    ) async -> Bool {
        let policy = core.configuration.retry
        let attempts = entry.attempts + (counts ? 1 : 0)
        // The first attempt that reaches the server ends an outage, so delays start again from the first.
        let position = counts ? attempts : entry.tries
        let drawn = policy.maximumDelay(before: position) * core.configuration.jitter()
        // Attempts that do not reach the server are not counted: without a delay they would repeat endlessly.
        let requested = min(asked ?? .zero, core.configuration.maximumRequestedDelay)
        let pause = max(drawn, requested, counts ? .zero : Self.shortestPause)
        let moment = core.moment
        let age = entry.age(at: moment)
        if counts,
            attempts >= policy.attempts || policy.totalLimit.map({ age + pause > $0 }) ?? false
        {
            return await reject(entry, reason, isRefused: false)
        }
        _ = await settled(entry) { () async throws(StorageError) in
            try await self.core.change(
                entry,
                [
                    FieldChange("attempts", .set(.integer(Int64(attempts)))),
                    FieldChange("isUnreached", .set(.boolean(!counts))),
                    FieldChange("isInDoubt", .set(.boolean(counts || entry.isInDoubt))),
                    FieldChange("lastFailure", .set(.string(reason))),
                ] + OutboxEntry.unclaiming + OutboxEntry.pausing(at: moment, for: pause)
            ) != nil
        }
        core.configuration.onEvent(.postponed(entry.write, reason: reason, pause: pause))
        return false
    }

    private func giveBack(_ entry: OutboxEntry) async -> Bool {
        _ = await settled(entry) { () async throws(StorageError) in
            try await self.core.change(entry, OutboxEntry.unclaiming) != nil
        }
        return false
    }

    /// Records an outcome, with up to three attempts.
    ///
    /// If that fails, the write is sent again after the lease, with the same idempotency key.
    ///
    /// - Returns: Whether the outcome was recorded.
    private func settled(
        _ entry: OutboxEntry,
        _ body: () async throws(StorageError) -> Bool
    ) async -> Bool {
        let policy = RetryPolicy(attempts: 3, baseDelay: .milliseconds(50))
        do throws(StorageError) {
            let isSettled = try await withRetry(policy, clock: core.configuration.clock) {
                _ async throws(StorageError) in try await body()
            }
            state.withLock { $0.stalledKeys[entry.write.key] = nil }
            return isSettled
        } catch {
            stall(entry.write.key, error)
            return false
        }
    }
}
