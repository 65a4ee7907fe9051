extension Cache {
    /// Stores a value, in memory at once and in the tier before the call returns.
    ///
    /// It never fails. A value that memory has no room for goes to the tier alone; one that the tier
    /// does not take is in memory alone, and what was below under the key is not found any more.
    ///
    /// - Parameters:
    ///   - value: What to keep.
    ///   - key: What to find it by.
    ///   - expiry: How long it is fresh; nil for what the cache is configured to.
    ///   - staleness: For how much longer it may stand in; nil for what the cache is configured to.
    ///   - cost: What it costs; nil for what the cache's cost function says.
    ///   - tags: What it can be removed by, together with others.
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

    /// Stores a value in memory without a pause, for callers that cannot wait.
    ///
    /// In a cache over a tier, the tier takes the value behind, in its turn. Where the tier is slower
    /// than its callers, it gets the last value of a key only, and values that wait for it hold at
    /// most 32 MiB: those beyond are in memory alone.
    ///
    /// - Parameters:
    ///   - value: What to keep.
    ///   - key: What to find it by.
    ///   - expiry: How long it is fresh; nil for what the cache is configured to.
    ///   - cost: What it costs; nil for what the cache's cost function says.
    ///   - tags: What it can be removed by, together with others.
    @inlinable
    public func setNow(
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

    /// Stores a value and makes it survive the end of the program.
    ///
    /// - Parameters:
    ///   - value: What to keep.
    ///   - key: What to find it by.
    ///   - expiry: How long it is fresh; nil for what the cache is configured to.
    ///   - staleness: For how much longer it may stand in; nil for what the cache is configured to.
    ///   - cost: What it costs; nil for what the cache's cost function says.
    ///   - tags: What it can be removed by, together with others.
    /// - Throws: ``CacheError`` when the tier did not take it; it is in memory nevertheless.
    public func persist(
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

    /// Makes what was set before survive the end of the program.
    ///
    /// - Throws: What the tier throws.
    public func flush() async throws(CacheError) {
        guard let queue = lower?.queue else { return }
        if let error = await queue.finish(queue.add(.flush)) { throw error }
    }

    // MARK: Behind the shortest way

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
        if outcome.result == .refused || own.hasListeners { own.tell(outcome, of: key) }
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

    /// Waits for the tier to have taken a change.
    func settle(_ stored: PlacedEntry) async -> CacheError? {
        guard let queue = lower?.queue, let id = stored.change else { return stored.error }
        let error = await queue.finish(id)
        return stored.error ?? error
    }

    /// Stores a value in memory and queues it for the tier, both or none.
    ///
    /// - Parameters:
    ///   - loaded: The value, or that there is none.
    ///   - key: What to find it by.
    ///   - stamp: The tags' epoch when the value began to be made.
    ///   - generation: What its making began with, nil where it counts whatever happened meanwhile.
    ///   - isBehind: Whether nobody waits for the tier.
    /// - Returns: What became of it.
    func store(
        _ loaded: CacheLoaded<Value>,
        for key: Key,
        stamp: UInt64,
        generation: UInt64? = nil,
        isBehind: Bool = false
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
                stamp: stamp
            ),
            cost: max(0, cost(of: loaded, change)),
            generation: generation
        )
        var id: UInt64?
        stored.result = memory.store(entry) {
            board.admit(loaded.tags, stamp: stamp) {
                guard let change, let queue = lower?.queue else { return }
                id = queue.add(change, isBehind: isBehind)
            }
        }
        stored.change = id
        return stored
    }

    private func cost(of loaded: CacheLoaded<Value>, _ change: TierQueue.Work?) -> Int {
        if let cost = loaded.cost { return cost }
        // It was encoded for the tier a moment ago.
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
        var staleness = (loaded.staleness ?? configuration.staleness).cacheMicroseconds
        if loaded.value == nil { staleness = 0 }
        return EntryTimes(
            created: created.microseconds,
            freshUntil: freshUntil,
            usableUntil: freshUntil == .max ? .max : freshUntil.cacheAdding(max(0, staleness))
        )
    }

    /// What the tier is to do.
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
            if let idle = configuration.timeToIdle?.cacheMicroseconds {
                end = min(end, times.created.cacheAdding(idle))
            }
            return .write(
                CacheRecord(
                    key: name,
                    body: .bytes(body),
                    created: CacheInstant(microseconds: times.created),
                    staleAfter: times.freshUntil < end
                        ? CacheInstant(microseconds: times.freshUntil) : nil,
                    expires: end == .max ? nil : CacheInstant(microseconds: end),
                    tags: loaded.tags + [lower.spaceTag]
                )
            )
        } catch {
            failure = error
            ledger.failed(error, key)
            // The old value below is not the right one any more.
            guard let name = try? lower.coding.name(of: key, in: lower.space) else { return nil }
            return .remove(.keys([name]))
        }
    }
}

/// What became of an entry, and the tier's change to wait for.
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
