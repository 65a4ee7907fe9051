import KeelCache
import Synchronization

extension ResponseStore {
    /// Invalidates all responses with these tags, including those being received.
    func invalidate(_ tags: [String]) async {
        guard !tags.isEmpty else { return }
        state.withLock { $0.log.add(tags) }
        counts.add(\.invalidations, tags.count)
        for tag in tags where await !removes(.tag(tag)) {
            _ = state.withLock { $0.pending.insert(tag) }
        }
    }

    /// Removes everything, including responses being received.
    ///
    /// - Throws: The tier's error; what is stored is not used again until a removal succeeds.
    func removeAll() async throws(CacheError) {
        state.withLock { state in
            state.log.addEverything()
            state.isEverythingPending = true
        }
        try await lists.removeAll()
        try await tier.remove(.everything)
        state.withLock { state in
            state.isEverythingPending = false
            state.pending = []
        }
    }

    /// Returns whether entries with these tags are usable: no removal of theirs is pending.
    ///
    /// A pending removal is retried; entries are unusable this time in any case.
    func isUsable(_ tags: @autoclosure () -> [String]) async -> Bool {
        // Nearly always, and a hit then need not compute tags, which are hashes.
        guard state.withLock(\.isRemovalPending) else { return true }
        let tags = tags()
        let (pending, isEverything) = state.withLock { state in
            (tags.filter(state.pending.contains), state.isEverythingPending)
        }
        if isEverything, await removes(.everything) {
            state.withLock { state in
                state.isEverythingPending = false
                state.pending = []
            }
        }
        for tag in pending where await removes(.tag(tag)) {
            _ = state.withLock { $0.pending.remove(tag) }
        }
        return pending.isEmpty && !isEverything
    }

    func isInvalidated(_ tags: [String], since mark: InvalidationLog.Mark) -> Bool {
        state.withLock { $0.log.concerns(tags, since: mark) }
    }

    func remove(bodies: [StoredResponse.BodyID]) async {
        guard !bodies.isEmpty else { return }
        await remove(.keys(bodies.map(StorageKey.body)))
    }

    func remove(_ selection: CacheSelection) async { _ = await removes(selection) }

    private func removes(_ selection: CacheSelection) async -> Bool {
        do throws(CacheError) {
            try await tier.remove(selection)
            return true
        } catch {
            counts.add(\.tierFailures)
            return false
        }
    }
}
