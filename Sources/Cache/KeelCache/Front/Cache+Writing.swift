internal import KeelCore

extension Cache {
    /// Stores a value in memory at once, and in the tier before the call returns.
    ///
    /// This method never fails. A value that is too large for memory is stored only in the tier. If the tier fails or
    /// the value cannot be encoded, only memory has it, and the cache ignores the tier's old value for the key.
    ///
    /// - Parameters:
    ///   - value: The value to store.
    ///   - key: The key of the value.
    ///   - expiry: The time for which the value is fresh; nil for the configured expiry.
    ///   - staleness: The time for which the stale value may be served; nil for the configured one.
    ///   - cost: The cost of the value; nil to use the cache's cost function.
    ///   - tags: The tags of the value; ``removeAll(tagged:)`` removes all values with a tag.
    @inlinable
    public func set(
        _ value: Value,
        for key: Key,
        expiry: CacheExpiry? = nil,
        staleness: Duration? = nil,
        cost: Int? = nil,
        tags: [String] = []
    ) async {
        if isSimple, expiry == nil, staleness == nil, tags.isEmpty {
            setSimply(value, for: key, cost: cost)
        } else {
            let loaded = CacheLoaded(
                value,
                expiry: expiry,
                staleness: staleness,
                cost: cost,
                tags: tags
            )
            await setFully(loaded, for: key)
        }
    }

    /// Stores a value in memory synchronously and writes it to the tier later, in order.
    ///
    /// If the tier is slower than its callers, only the last value of each key is written. At most 32 MiB of keys and
    /// values wait for the tier; further values stay only in memory, and if more than 16,384 such values are pending,
    /// the tier loses all entries of this cache. The parameters are those of
    /// ``set(_:for:expiry:staleness:cost:tags:)``.
    @inlinable
    public func setSynchronously(
        _ value: Value,
        for key: Key,
        expiry: CacheExpiry? = nil,
        cost: Int? = nil,
        tags: [String] = []
    ) {
        if isSimple, expiry == nil, tags.isEmpty {
            setSimply(value, for: key, cost: cost)
        } else {
            setBehind(CacheLoaded(value, expiry: expiry, cost: cost, tags: tags), for: key)
        }
    }

    /// Stores a value and returns when it survives the end of the process, if the tier outlives the process.
    ///
    /// A tier may still evict the value, or drop one that exceeds its limit. The parameters are those of
    /// ``set(_:for:expiry:staleness:cost:tags:)``.
    ///
    /// - Throws: ``CacheError`` if the tier failed or the value could not be encoded; the value is in memory
    ///   nevertheless, unless it is too large.
    public func setDurably(
        _ value: Value,
        for key: Key,
        expiry: CacheExpiry? = nil,
        staleness: Duration? = nil,
        cost: Int? = nil,
        tags: [String] = []
    ) async throws(CacheError) {
        let loaded = CacheLoaded(
            value,
            expiry: expiry,
            staleness: staleness,
            cost: cost,
            tags: tags
        )
        if let error = await setFully(loaded, for: key) { throw error }
        try await flush()
    }

    /// Returns when all values set so far survive the end of the process, if the tier outlives the process.
    ///
    /// - Throws: ``CacheError`` if the flush failed. Earlier failures of ``setSynchronously(_:for:expiry:cost:tags:)``
    ///   appear only in ``statistics`` and ``events(keeping:)``.
    public func flush() async throws(CacheError) {
        guard let queue = lower?.queue else { return }
        if let error = await queue.finish(queue.add(.flush)) { throw error }
    }

    // MARK: Slower paths

    @inlinable
    func setSimply(_ value: Value, for key: Key, cost: Int?) {
        guard let parts, let own else { return }
        defer { withExtendedLifetime(self) {} }
        let entry = MemoryEntry(
            hash: parts.seed.hash(key),
            freshUntil: .max,
            detail: nil,
            key: key,
            value: value
        )
        let outcome = parts.store(entry, cost: cost.map { max(0, $0) } ?? defaultCost(value))
        if outcome.result == .rejected || own.hasListeners { own.tell(outcome, of: key) }
    }

    @inlinable
    func defaultCost(_ value: Value) -> Int { max(0, costOf?(value) ?? 1) }

    @usableFromInline
    func setBehind(_ loaded: CacheLoaded<Value>, for key: Key) {
        let stored = store(loaded, for: key, stamp: board.epoch, isBehind: true)
        if stored.change != nil { lower?.queue.start() }
    }

    @usableFromInline
    @discardableResult
    func setFully(_ loaded: CacheLoaded<Value>, for key: Key) async -> CacheError? {
        let stored = store(loaded, for: key, stamp: board.epoch)
        return await settle(stored)
    }

    func settle(_ stored: PlacedEntry) async -> CacheError? {
        guard let queue = lower?.queue, let id = stored.change else { return stored.error }
        let error = await queue.finish(id)
        return stored.error ?? error
    }

    /// Stores a value in memory and queues it for the tier, both or neither.
    ///
    /// `stamp` and `generation` are those when making the value began; a nil generation ignores changes since. With
    /// `isBehind`, no caller waits for the tier. `refreshes` says whether the load's policy refreshes ahead.
    func store(
        _ loaded: CacheLoaded<Value>,
        for key: Key,
        stamp: UInt64,
        generation: UInt64? = nil,
        isBehind: Bool = false,
        refreshes: Bool = false
    ) -> PlacedEntry {
        let times = times(of: loaded)
        var stored = PlacedEntry()
        let change = lower.map { self.change($0, loaded, key, times, &stored.error) } ?? nil
        let entry = NewEntry(
            key: key,
            value: loaded.value,
            freshUntil: times.freshUntil,
            detail: detail(
                created: times.created,
                freshUntil: times.freshUntil,
                usableUntil: times.usableUntil,
                tags: loaded.tags,
                stamp: stamp,
                refreshes: refreshes
            ),
            cost: max(0, cost(of: loaded, change)),
            generation: generation
        )
        var id: UInt64?
        stored.result = memory.store(entry) {
            board.admit(loaded.tags, stamp: stamp) {
                guard let change, let lower else { return }
                id =
                    isBehind
                    ? lower.queue.addBehind(change, of: lower.spaceTag) : lower.queue.add(change)
            }
        }
        stored.change = id
        return stored
    }

    private func cost(of loaded: CacheLoaded<Value>, _ change: TierQueue.Work?) -> Int {
        if let cost = loaded.cost { return cost }
        // Already encoded for the tier.
        if countsBytes, let bytes = change?.valueBytes { return bytes }
        return loaded.value.map { costOf?($0) ?? 1 } ?? 1
    }

    private func times(of loaded: CacheLoaded<Value>) -> EntryTimes {
        let expiry =
            loaded.value == nil
            ? loaded.expiry ?? configuration.absenceExpiry ?? .seconds(0)
            : loaded.expiry ?? configuration.expiry
        let needsTime = expiry != .never || lower != nil || configuration.timeToIdle != nil
        let created = needsTime ? clock.now : CacheInstant(microseconds: 0)
        let freshUntil = expiry.instant(from: created)?.microseconds ?? .max
        var staleness = (loaded.staleness ?? configuration.staleness).microseconds
        if loaded.value == nil { staleness = 0 }
        return EntryTimes(
            created: created.microseconds,
            freshUntil: freshUntil,
            usableUntil: freshUntil == .max ? .max : freshUntil.cacheAdding(max(0, staleness))
        )
    }

    private func change(
        _ lower: CacheLower<Key, Value>,
        _ loaded: CacheLoaded<Value>,
        _ key: Key,
        _ times: EntryTimes,
        _ failure: inout CacheError?
    ) -> TierQueue.Work? {
        do throws(CacheError) {
            guard let value = loaded.value else {
                return .remove(.keys([try lower.coding.name(of: key, in: lower.space)]))
            }
            let (name, body) = try lower.coding.record(of: key, value, in: lower.space)
            var end = times.usableUntil
            if let idle = configuration.timeToIdle?.microseconds {
                end = min(end, times.created.cacheAdding(idle))
            }
            return .write(
                CacheRecord(
                    key: name,
                    body: .bytes(body),
                    created: CacheInstant(microseconds: times.created),
                    // Also behind an end by the idle time: memory then keeps a used value up to its own end.
                    staleAfter: times.freshUntil < end || end < times.usableUntil
                        ? CacheInstant(microseconds: times.freshUntil) : nil,
                    expires: end == .max ? nil : CacheInstant(microseconds: end),
                    tags: loaded.tags + [lower.spaceTag]
                )
            )
        } catch {
            failure = error
            ledger.failed(error, key)
            // The tier's old value is out of date.
            guard let name = try? lower.coding.name(of: key, in: lower.space) else { return nil }
            return .remove(.keys([name]))
        }
    }
}

struct PlacedEntry: Sendable {
    var result = MemoryResult.stored
    var change: UInt64?
    var error: CacheError?
}

/// The times of an entry, in microseconds since 1970.
struct EntryTimes: Sendable {
    var created: Int64
    var freshUntil: Int64
    var usableUntil: Int64
}

/// The part of a tier that belongs to one cache.
struct CacheLower<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let queue: TierQueue
    let coding: CacheCoding<Key, Value>
    /// The prefix of the bytes of all keys.
    let space: [UInt8]
    let spaceTag: String

    init(queue: TierQueue, name: String, coding: CacheCoding<Key, Value>) {
        self.queue = queue
        self.coding = coding
        // Lengths keep a name or format from running into the key or into another name.
        let words = [Array(name.utf8), Array(coding.format.utf8)]
        space = words.flatMap { word -> [UInt8] in
            let length = UInt32(truncatingIfNeeded: word.count)
            return (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) } + word
        }
        spaceTag = "\u{0}\(name)\u{0}\(coding.format)"
    }

    func tags(of record: CacheRecord) -> [String] { record.tags.filter { $0 != spaceTag } }
}
