internal import KeelCore
internal import KeelStorage
internal import Synchronization

extension OutboxRunner {
    /// Sends the entries of a key one after the other.
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
            // The rest of the claim has to last for an attempt.
            guard timer.now - begun <= core.configuration.leaseMargin else {
                let reason = "The store took too long to claim it."
                _ = await Task { await postpone(claimed, reason, asked: nil, counts: false) }.value
                return
            }
            guard await deliver(claimed) else { return }
        }
    }

    /// Lets a key wait, because the store did not take what was to be written down of it.
    ///
    /// The runner would come back to it at once otherwise, and never do anything else.
    private func stall(_ key: String, _ error: StorageError) {
        guard !error.isCancellation else { return }
        let failures = state.withLock { ($0.stalledKeys[key]?.failures ?? 0) + 1 }
        let pause = max(storePause(failures), Self.shortestPause)
        state.withLock { $0.stalledKeys[key] = (failures, timer.now + pause) }
        core.configuration.onEvent(.storeFailed(error, pause: pause))
    }

    /// Claims an entry; nil if it is not as it was read.
    private func claim(_ entry: OutboxEntry) async throws(StorageError) -> OutboxEntry? {
        let claim = OutboxEntry.claiming(for: owner, at: core.moment, lasting: claimLength)
        return try await core.change(entry, claim).map { OutboxEntry(entry, revision: $0) }
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
        let wasRemoved = await settled(entry) { () async throws(StorageError) in
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
        core.receipts[entry.id]?.fulfil(.failure(.rejected(entry.id, reason)))
        core.configuration.onEvent(.rejected(entry.write, reason: reason))
        return core.configuration.rejection == .letsOthersPass
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
        // An outage is over with the first attempt that reaches the server: pauses begin again.
        let position = counts ? attempts : entry.tries + 1
        let drawn = policy.maximumDelay(before: position) * core.configuration.jitter()
        // Attempts that reach nobody are not counted: without a pause they would never end.
        let pause = max(drawn, asked ?? .zero, counts ? .zero : Self.shortestPause)
        let moment = core.moment
        let age = moment.wall.duration(since: entry.enqueuedAt)
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
                    FieldChange("tries", .set(.integer(Int64(entry.tries + 1)))),
                    FieldChange("isUnreached", .set(.boolean(!counts))),
                    FieldChange("lastFailure", .set(.string(reason))),
                ] + OutboxEntry.unclaiming + OutboxEntry.pausing(at: moment, for: pause)
            ) != nil
        }
        core.configuration.onEvent(.postponed(entry.write, reason: reason, pause: pause))
        return false
    }

    /// Ends the claim on an entry whose attempt was broken off.
    private func giveBack(_ entry: OutboxEntry) async -> Bool {
        _ = await settled(entry) { () async throws(StorageError) in
            try await self.core.change(entry, OutboxEntry.unclaiming) != nil
        }
        return false
    }

    /// Writes an outcome down, a few times if need be.
    ///
    /// What cannot be written down is lost with the claim: the write is sent again after a pause,
    /// under the key that the server knows.
    ///
    /// - Returns: Whether it was written down.
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
