internal import Synchronization

/// Passes changes to a tier, in the order in which memory applied them.
///
/// A change is queued under the lock of the memory it changes. Waiting writes are passed on in one call. One task at a
/// time works the queue, and ends when the queue is empty.
///
/// Of write-behind changes, which have no waiting caller, only the last write of a key is passed on. All waiting
/// changes hold at most ``byteLimit`` bytes: a write-behind change beyond that becomes a removal, so that no older
/// value is read from the tier. Beyond ``removalLimit`` such removals, one of all entries of a cache replaces further
/// ones of that cache.
///
/// The keys and tags of changes that the tier refuses are untrusted until a later change of the same ones succeeds.
final class TierQueue: Sendable {
    enum Work: Sendable {
        case write(CacheRecord)
        case remove(CacheSelection)
        case flush
    }

    /// The maximum number of bytes of keys and values in write-behind changes.
    static let byteLimit = 32 << 20

    static let removalLimit = 16_384

    private static let overhead = 64

    fileprivate struct Change {
        let id: UInt64
        var work: Work
        let isBehind: Bool

        var byteCount: Int {
            if case .write(let record) = work { TierQueue.byteCount(of: record) } else { 0 }
        }
    }

    fileprivate struct State {
        var pending: [Change] = []
        /// The index of the latest pending change of each key, if it is write-behind.
        var behind: [[UInt8]: Int] = [:]
        var behindRemovals = 0
        /// The pending removals of all entries of a cache that replace many, by the tag of these entries.
        var clearings: [String: UInt64] = [:]
        /// The bytes of pending values, and of those being written.
        var waitingBytes = 0
        var workingBytes = 0
        var lastID: UInt64 = 0
        var doneID: UInt64 = 0
        var isWorking = false
        /// The latest unfinished change of each key, and of more than single keys.
        var keys: [[UInt8]: UInt64] = [:]
        var lastBulk: UInt64 = 0
        var errors: [UInt64: CacheError] = [:]
        var waiters: [UInt64: [(CheckedContinuation<CacheError?, Never>, isOwn: Bool)]] = [:]
        var distrust = TierDistrust()
    }

    fileprivate static func byteCount(of record: CacheRecord) -> Int {
        record.key.count + record.body.count + overhead
    }

    var waitingCount: Int { state.withLock { $0.pending.count } }

    let tier: any CacheTier
    private let onFailure: @Sendable (CacheError) -> Void
    private let state = Mutex(State())

    init(_ tier: any CacheTier, onFailure: @escaping @Sendable (CacheError) -> Void) {
        self.tier = tier
        self.onFailure = onFailure
    }

    /// Queues a change, so briefly that it can be called under a lock.
    ///
    /// Call ``finish(_:isOwn:)`` with the result.
    @discardableResult
    func add(_ work: Work) -> UInt64 { state.withLock { $0.append(work, isBehind: false) } }

    /// Queues a write-behind change of a cache whose entries all have a tag; call ``start()`` afterward.
    func addBehind(_ work: Work, of spaceTag: String) -> UInt64 {
        state.withLock { $0.addBehind(work, spaceTag) }
    }

    func start() {
        let starts = state.withLock { state in
            guard !state.pending.isEmpty, !state.isWorking else { return false }
            state.isWorking = true
            return true
        }
        if starts { Task { await self.work() } }
    }

    /// Waits until the tier has taken a change, and returns the failure, if any.
    ///
    /// `isOwn` says whether the caller added the change and receives its failure.
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

    /// Returns the tier's record for a key, after all earlier changes of it.
    ///
    /// A failure is reported and counts as no record.
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
                state.behind = [:]
                state.behindRemovals = 0
                state.clearings = [:]
                state.workingBytes = state.waitingBytes
                state.waitingBytes = 0
                if batch.isEmpty { state.isWorking = false }
                return batch
            }
            if batch.isEmpty { return }
            var writes: [Write] = []
            for change in batch {
                if case .write(let record) = change.work {
                    writes.append(Write(change, record))
                    continue
                }
                await write(writes)
                writes = []
                await perform(change)
            }
            await write(writes)
        }
    }

    private struct Write {
        let change: Change
        let record: CacheRecord

        init(_ change: Change, _ record: CacheRecord) {
            self.change = change
            self.record = record
        }
    }

    private func write(_ writes: [Write]) async {
        guard !writes.isEmpty else { return }
        do throws(CacheError) {
            try await tier.write(writes.map(\.record))
            for write in writes { end(write.change, [write.record.key], nil) }
        } catch {
            guard writes.count == 1 else {
                // One record may be at fault for all.
                for write in writes { await self.write([write]) }
                return
            }
            await refused(writes[0], error)
        }
    }

    private func refused(_ write: Write, _ error: CacheError) async {
        let key = write.record.key
        onFailure(error)
        do throws(CacheError) {
            try await tier.remove(.keys([key]))
        } catch {
            onFailure(error)
            state.withLock { $0.distrust.add(.keys([key])) }
            return end(write.change, [], error)
        }
        end(write.change, [key], error)
    }

    private func perform(_ change: Change) async {
        var selection: CacheSelection?
        do throws(CacheError) {
            switch change.work {
            case .remove(let removal):
                selection = removal
                try await tier.remove(removal)
            default: try await tier.flush()
            }
            if let selection { state.withLock { $0.distrust.take(selection) } }
            end(change, [], nil)
        } catch {
            onFailure(error)
            if let selection { state.withLock { $0.distrust.add(selection) } }
            end(change, [], error)
        }
    }

    /// Completes a change, after which the keys are trusted.
    private func end(_ change: Change, _ trusted: [[UInt8]], _ error: CacheError?) {
        let id = change.id
        let waiters = state.withLock { state in
            state.doneID = id
            state.distrust.take(.keys(trusted))
            if state.pending.isEmpty, state.lastID == id {
                state.keys.removeAll(keepingCapacity: true)
            } else {
                for key in trusted where state.keys[key] == id { state.keys[key] = nil }
            }
            let waiters = state.waiters.removeValue(forKey: id)
            // The caller that added the change has not collected its error yet.
            if let error, !change.isBehind, waiters?.contains(where: \.isOwn) != true {
                state.errors[id] = error
            }
            return waiters ?? []
        }
        for (waiter, _) in waiters { waiter.resume(returning: error) }
    }
}

extension TierQueue.State {
    fileprivate mutating func append(_ work: TierQueue.Work, isBehind: Bool) -> UInt64 {
        lastID += 1
        let change = TierQueue.Change(id: lastID, work: work, isBehind: isBehind)
        pending.append(change)
        waitingBytes += change.byteCount
        switch work {
        case .write(let record): keys[record.key] = lastID
        case .remove(.keys(let removed)): for key in removed { keys[key] = lastID }
        case .remove(.tag), .remove(.everything): lastBulk = lastID
        case .remove(.expired), .flush: break
        }
        return lastID
    }

    /// Queues a write-behind change, in place of an earlier one of its key.
    fileprivate mutating func addBehind(_ work: TierQueue.Work, _ spaceTag: String) -> UInt64 {
        guard let key = work.singleKey else { return append(work, isBehind: true) }
        var work = work
        // An earlier place must not precede a removal or a waited-for change made since.
        let place = behind[key].flatMap { index in
            let id = pending[index].id
            return keys[key] == id && id > lastBulk ? index : nil
        }
        let freed = place.map { pending[$0].byteCount } ?? 0
        if case .write(let record) = work,
            waitingBytes + workingBytes - freed + TierQueue.byteCount(of: record)
                > TierQueue.byteLimit
        {
            work = .remove(.keys([key]))
        }
        guard let place else {
            if work.isRemoval, behindRemovals >= TierQueue.removalLimit {
                return clear(spaceTag, for: key)
            }
            behindRemovals += work.isRemoval ? 1 : 0
            let id = append(work, isBehind: true)
            behind[key] = pending.count - 1
            return id
        }
        switch (pending[place].work.isRemoval, work.isRemoval) {
        case (false, true):
            if behindRemovals >= TierQueue.removalLimit { return clear(spaceTag, for: key) }
            behindRemovals += 1
        case (true, false): behindRemovals -= 1
        case (true, true), (false, false): break
        }
        pending[place].work = work
        waitingBytes += pending[place].byteCount - freed
        return pending[place].id
    }

    /// Queues the removal of all entries of a cache in place of a key's removal, unless a pending one already follows
    /// all changes of the key.
    private mutating func clear(_ spaceTag: String, for key: [UInt8]) -> UInt64 {
        if let clearing = clearings[spaceTag], clearing > keys[key] ?? 0 { return clearing }
        let id = append(.remove(.tag(spaceTag)), isBehind: true)
        clearings[spaceTag] = id
        return id
    }
}

extension TierQueue.Work {
    fileprivate var isRemoval: Bool {
        if case .remove = self { true } else { false }
    }

    fileprivate var singleKey: [UInt8]? {
        switch self {
        case .write(let record): record.key
        case .remove(.keys(let keys)): keys.count == 1 ? keys[0] : nil
        case .remove, .flush: nil
        }
    }
}

/// The keys and tags whose old values in a tier must not be returned, because a change failed.
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
        // With so many failures, remembering single keys is not worth it.
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
