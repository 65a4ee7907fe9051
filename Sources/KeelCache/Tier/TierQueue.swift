internal import Synchronization

/// Hands changes on to a tier, in the order in which memory took them.
///
/// A change is queued under the lock of the memory that it changes, so that for each key the tier
/// ends with what memory had last. Writes that wait together go down in one call. One task at a time
/// works the queue; it ends when the queue is empty.
///
/// A change that the tier refuses leaves something old below, which must not come up again: the
/// queue remembers what cannot be trusted until a later change of the same thing succeeds.
final class TierQueue: Sendable {
    enum Work: Sendable {
        case write(CacheRecord)
        case remove(CacheSelection)
        case flush
    }

    private struct State {
        var pending: [(id: UInt64, work: Work)] = []
        var lastID: UInt64 = 0
        var doneID: UInt64 = 0
        var isWorking = false
        /// The latest change under way of a key, and of more than single keys.
        var keys: [[UInt8]: UInt64] = [:]
        var lastBulk: UInt64 = 0
        var errors: [UInt64: CacheError] = [:]
        var waiters: [UInt64: [(CheckedContinuation<CacheError?, Never>, isOwn: Bool)]] = [:]
        var distrust = TierDistrust()
    }

    let tier: any CacheTier
    private let onFailure: @Sendable (CacheError) -> Void
    private let state = Mutex(State())

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - tier: Where changes go.
    ///   - onFailure: Is told of each call that failed.
    init(_ tier: any CacheTier, onFailure: @escaping @Sendable (CacheError) -> Void) {
        self.tier = tier
        self.onFailure = onFailure
    }

    /// Queues a change; does nothing else, so that it may be called under a lock.
    ///
    /// - Returns: What ``finish(_:)`` waits for, which has to be called.
    func add(_ work: Work) -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            state.pending.append((id, work))
            switch work {
            case .write(let record): state.keys[record.key] = id
            case .remove(.keys(let keys)): for key in keys { state.keys[key] = id }
            case .remove(.tag), .remove(.everything): state.lastBulk = id
            case .remove(.expired), .flush: break
            }
            return id
        }
    }

    /// Waits until the tier has taken a change.
    ///
    /// - Parameters:
    ///   - id: What ``add(_:)`` gave.
    ///   - isOwn: Whether the caller added the change and is to hear of its failure.
    /// - Returns: Why it did not.
    @discardableResult
    func finish(_ id: UInt64, isOwn: Bool = true) async -> CacheError? {
        let starts = state.withLock { state in
            guard state.doneID < id, !state.isWorking else { return false }
            state.isWorking = true
            return true
        }
        if starts { Task { await self.work() } }
        return await withCheckedContinuation { continuation in
            let outcome = state.withLock { state -> CacheError?? in
                if state.doneID >= id {
                    return .some(isOwn ? state.errors.removeValue(forKey: id) : nil)
                }
                state.waiters[id, default: []].append((continuation, isOwn))
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// What is under a key below, after all changes of it that are under way.
    ///
    /// A failure counts as nothing, and is told.
    func read(_ key: [UInt8]) async -> CacheRecord? {
        let id = state.withLock { max($0.keys[key] ?? 0, $0.lastBulk) }
        if id > state.withLock({ $0.doneID }) { await finish(id, isOwn: false) }
        guard !state.withLock({ $0.distrust.covers(key: key) }) else { return nil }
        let record: CacheRecord?
        do throws(CacheError) {
            record = try await tier.read(key)
        } catch {
            onFailure(error)
            return nil
        }
        guard let record, !state.withLock({ $0.distrust.covers(tags: record.tags) }) else {
            return nil
        }
        return record
    }

    // MARK: Working

    private func work() async {
        while true {
            let batch = state.withLock { state in
                let batch = state.pending
                state.pending = []
                if batch.isEmpty { state.isWorking = false }
                return batch
            }
            if batch.isEmpty { return }
            var writes: [(id: UInt64, record: CacheRecord)] = []
            for (id, work) in batch {
                if case .write(let record) = work {
                    writes.append((id, record))
                    continue
                }
                await write(writes)
                writes = []
                await perform(work, id)
            }
            await write(writes)
        }
    }

    private func write(_ writes: [(id: UInt64, record: CacheRecord)]) async {
        guard !writes.isEmpty else { return }
        do throws(CacheError) {
            try await tier.write(writes.map(\.record))
            for write in writes { end(write.id, [write.record.key], nil) }
        } catch {
            guard writes.count == 1 else {
                // One of them may be to blame for all.
                for write in writes { await self.write([write]) }
                return
            }
            await refused(writes[0].record, writes[0].id, error)
        }
    }

    private func refused(_ record: CacheRecord, _ id: UInt64, _ error: CacheError) async {
        onFailure(error)
        do throws(CacheError) {
            try await tier.remove(.keys([record.key]))
        } catch {
            onFailure(error)
            state.withLock { $0.distrust.add(.keys([record.key])) }
            return end(id, [], error)
        }
        end(id, [record.key], error)
    }

    private func perform(_ work: Work, _ id: UInt64) async {
        var selection: CacheSelection?
        do throws(CacheError) {
            switch work {
            case .remove(let removal):
                selection = removal
                try await tier.remove(removal)
            default: try await tier.flush()
            }
            if let selection { state.withLock { $0.distrust.take(selection) } }
            end(id, [], nil)
        } catch {
            onFailure(error)
            if let selection { state.withLock { $0.distrust.add(selection) } }
            end(id, [], error)
        }
    }

    /// Ends a change, after which the keys can be trusted.
    private func end(_ id: UInt64, _ trusted: [[UInt8]], _ error: CacheError?) {
        let waiters = state.withLock { state in
            state.doneID = id
            state.distrust.take(.keys(trusted))
            if state.pending.isEmpty, state.lastID == id {
                state.keys.removeAll(keepingCapacity: true)
            } else {
                for key in trusted where state.keys[key] == id { state.keys[key] = nil }
            }
            let waiters = state.waiters.removeValue(forKey: id)
            // Whoever added the change has yet to come for its error.
            if let error, waiters?.contains(where: \.isOwn) != true { state.errors[id] = error }
            return waiters ?? []
        }
        for (waiter, _) in waiters { waiter.resume(returning: error) }
    }
}

/// What a tier holds that must not come up again, because it did not take a change.
struct TierDistrust: Sendable {
    private var keys: Set<[UInt8]> = []
    private var tags: Set<String> = []
    private var all = false

    func covers(key: [UInt8]) -> Bool { all || keys.contains(key) }

    func covers(tags others: [String]) -> Bool {
        !tags.isEmpty && others.contains { tags.contains($0) }
    }

    mutating func add(_ selection: CacheSelection) {
        switch selection {
        case .keys(let keys): self.keys.formUnion(keys)
        case .tag(let tag): tags.insert(tag)
        case .expired: break
        case .everything: all = true
        }
        // A tier that fails as often as this is not worth remembering why.
        if keys.count + tags.count > 10_000 { all = true }
    }

    mutating func take(_ selection: CacheSelection) {
        switch selection {
        case .keys(let keys): if !self.keys.isEmpty { self.keys.subtract(keys) }
        case .tag(let tag): tags.remove(tag)
        case .expired: break
        case .everything: self = TierDistrust()
        }
    }
}
