extension Cache {
    /// Returns the values for several keys, loading all missing ones in one call.
    ///
    /// A key that is set or removed during the call keeps its new state. Bulk loads are not shared between callers, and
    /// ignore the timeouts of the policy.
    ///
    /// - Parameters:
    ///   - keys: The keys of the values.
    ///   - policy: `cacheFirst`, `refresh` or `cacheOnly`; nil for the configured policy. `loadFirst` counts as
    ///     `refresh`, and any other policy as `cacheFirst`.
    ///   - expiry: The time for which loaded values are fresh; nil for the configured expiry.
    ///   - tags: The tags of loaded values; ``removeAll(tagged:)`` removes all values with a tag.
    ///   - load: Loads the values for some of the keys, in the task of the caller; a key missing from its result has no
    ///     value.
    /// - Returns: The values found, and all that `load` returned.
    /// - Throws: The error of `load`.
    public func values(
        for keys: some Sequence<Key>,
        policy: CachePolicy? = nil,
        expiry: CacheExpiry? = nil,
        tags: [String] = [],
        load: @Sendable ([Key]) async throws -> [Key: Value]
    ) async throws -> [Key: Value] {
        let policy = policy ?? configuration.policy
        // Before the tier is read: what is removed meanwhile must not be stored again for this call.
        let stamp = board.epoch
        var values: [Key: Value] = [:]
        var missing: [(key: Key, generation: UInt64)] = []
        defer { for (key, _) in missing { memory.end(key) } }
        var seen: Set<Key> = []
        for key in keys where seen.insert(key).inserted {
            guard policy.source != .load else {
                missing.append((key, memory.begin(key)))
                continue
            }
            if let held = use(key), held.isFresh {
                // A key known to have no value is not loaded.
                values[key] = held.entry.value
                continue
            }
            let generation = memory.begin(key)
            if let value = await getBelow(key) {
                memory.end(key)
                values[key] = value
            } else {
                missing.append((key, generation))
            }
        }
        guard !missing.isEmpty, policy.source != .cacheOnly else { return values }
        let loaded = try await loadMissing(missing, stamp, expiry, tags, load)
        return values.merging(loaded) { _, new in new }
    }

    private func loadMissing(
        _ missing: [(key: Key, generation: UInt64)],
        _ stamp: UInt64,
        _ expiry: CacheExpiry?,
        _ tags: [String],
        _ load: @Sendable ([Key]) async throws -> [Key: Value]
    ) async throws -> [Key: Value] {
        ledger.count { $0.loads += 1 }
        let values: [Key: Value]
        do {
            values = try await load(missing.map { $0.key })
        } catch {
            ledger.count { $0.loadFailures += 1 }
            throw error
        }
        var stored: [PlacedEntry] = []
        for (key, generation) in missing {
            let value = values[key]
            // An absence that is not cached is stored only where a former value may be, which it replaces.
            if value == nil, configuration.absenceExpiry == nil, lower == nil,
                memory.look(key) == nil
            {
                continue
            }
            let loaded = CacheLoaded(
                value,
                expiry: value == nil ? nil : expiry,
                tags: value == nil ? [] : tags
            )
            stored.append(store(loaded, for: key, stamp: stamp, generation: generation))
        }
        let superseded = stored.count { $0.result == .superseded }
        if superseded > 0 { ledger.count { $0.supersededLoads += superseded } }
        // All are queued by now, so the tier gets them in few calls.
        for entry in stored { _ = await settle(entry) }
        return values
    }
}
