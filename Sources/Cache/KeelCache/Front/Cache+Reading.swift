extension Cache {
    /// Returns the fresh value for a key from memory, or nil.
    ///
    /// The read counts as a use. It does not access the tier.
    @inlinable
    public func peek(_ key: Key) -> Value? {
        guard let parts else { return peekSlowly(key) }
        defer { withExtendedLifetime(self) {} }
        let hash = parts.seed.hash(key)
        guard let found = parts.use(key, hash: hash) else { return nil }
        // Written out here so that it is specialized for the caller's types.
        if found.detail?.isPlain != false,
            found.freshUntil == .max || found.freshUntil > clock.now.microseconds
        {
            return found.value
        }
        return fresh(found.value, found.freshUntil, found.detail, key)
    }

    @inlinable
    func peekWhileRevalidating(_ key: Key) -> Value? {
        guard let parts else { return peekSlowly(key) }
        defer { withExtendedLifetime(self) {} }
        let hash = parts.seed.hash(key)
        guard let found = parts.use(key, hash: hash) else { return nil }
        if found.freshUntil == .max, found.detail == nil { return found.value }
        if found.detail?.isPlain != false {
            let now = clock.now.microseconds
            if found.freshUntil > now { return found.value }
            if let value = found.value, let detail = found.detail, detail.usableUntil > now,
                parts.countStale(detail, hash: hash)
            {
                return value
            }
        }
        return fresh(found.value, found.freshUntil, found.detail, key)
    }

    /// Returns the fresh value for a key from memory or the tier, or nil.
    ///
    /// A value found in the tier is copied into memory with its remaining lifetime. If the tier fails or the task is
    /// canceled, the result is nil; ``statistics`` and ``events(keeping:)`` report failures.
    @inlinable
    public func get(_ key: Key) async -> Value? {
        if let value = peek(key) { return value }
        return await getBelow(key)
    }

    /// Returns whether memory has a fresh value for a key, without counting a use.
    public func contains(_ key: Key) -> Bool {
        guard let found = memory.look(key), found.value != nil else { return false }
        let now = clock.now.microseconds
        return found.freshUntil > now && found.detail?.isIdle(at: now) != true && lives(found)
    }

    // MARK: Slower paths

    @usableFromInline
    func peekSlowly(_ key: Key) -> Value? {
        guard let found = use(key), found.isFresh else { return nil }
        return found.entry.value
    }

    @usableFromInline
    func fresh(
        _ value: Value?,
        _ freshUntil: Int64,
        _ detail: MemoryDetail?,
        _ key: Key
    ) -> Value? {
        let found = MemoryFound(value: value, freshUntil: freshUntil, detail: detail)
        guard let found = judge(found, key), found.isFresh else { return nil }
        return found.entry.value
    }

    @usableFromInline
    func getBelow(_ key: Key) async -> Value? {
        guard lower != nil, memory.look(key) == nil else { return nil }
        let id = begin(key)
        defer { memory.end(key) }
        guard let found = await promote(id), found.freshUntil > clock.now.microseconds else {
            return nil
        }
        return found.value
    }

    func use(_ key: Key) -> UsableEntry<Value>? {
        guard let found = memory.use(key) else { return nil }
        return judge(found, key)
    }

    /// Returns the entry if it is usable; otherwise drops it and counts the hit as a miss.
    private func judge(_ found: MemoryFound<Value>, _ key: Key) -> UsableEntry<Value>? {
        if found.freshUntil == .max, found.detail == nil {
            return UsableEntry(entry: found, isFresh: true, now: 0)
        }
        let now = clock.now.microseconds
        var death: EntryDeath?
        if found.usableUntil <= now {
            death = .expired
        } else if let detail = found.detail {
            if !lives(found) {
                death = .invalidated
            } else if detail.idle > 0, memory.wasIdle(key, detail, at: now) {
                death = .expired
            }
        }
        guard let death else {
            let isFresh = found.freshUntil > now
            if !isFresh { memory.recount(key) }
            return UsableEntry(entry: found, isFresh: isFresh, now: now)
        }
        memory.recount(key)
        if memory.discard(key, found) {
            ledger.tellDeath(of: key, death == .expired)
        }
        return nil
    }

    func lives(_ found: MemoryFound<Value>) -> Bool {
        guard let detail = found.detail else { return true }
        return board.lives(detail.tags, stamp: detail.stamp)
    }
}

struct UsableEntry<Value: Sendable>: Sendable {
    let entry: MemoryFound<Value>
    let isFresh: Bool
    /// The time of the check, in microseconds; 0 if the entry has no times.
    let now: Int64
}
