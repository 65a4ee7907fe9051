internal import KeelCore

extension Cache {
    /// Reads an entry from the tier into memory, once for all concurrent callers.
    ///
    /// - Parameters:
    ///   - id: The result of ``begin(_:)``, which the caller balances.
    ///   - isCounted: Whether the call was counted as a read.
    /// - Returns: The entry, which may be stale, or nil if there is no usable one or the caller was canceled.
    func promote(_ id: FlightID<Key>, isCounted: Bool = true) async -> MemoryFound<Value>? {
        guard let lower else { return nil }
        let found = try? await promotions.run(id) { [self] in
            await readBelow(lower, id.key, id.generation, id.stamp)
        }
        // Also nil if the caller was canceled: a read has no other way to report it.
        guard let entry = found ?? nil else { return nil }
        if isCounted { ledger.count { $0.tierHits += 1 } }
        return entry
    }

    func begin(_ key: Key) -> FlightID<Key> {
        let stamp = board.epoch
        return FlightID(key: key, generation: memory.begin(key), stamp: stamp)
    }

    private func readBelow(
        _ lower: CacheLower<Key, Value>,
        _ key: Key,
        _ generation: UInt64,
        _ stamp: UInt64
    ) async -> MemoryFound<Value>? {
        let name: [UInt8]
        do throws(CacheError) {
            name = try lower.coding.name(of: key, in: lower.space)
        } catch {
            ledger.failed(error, key)
            return nil
        }
        guard let record = await lower.queue.read(name) else { return nil }
        // Checked here as well: a cache never returns an expired value, whatever the tier does.
        let now = clock.now
        guard record.expires.map({ $0 > now }) ?? true else { return nil }
        // Set under a clock that was ahead, the value would stay fresh until that time. Small corrections do not count.
        let expires = record.staleAfter != nil || record.expires != nil
        if expires, record.created > now.advanced(bySeconds: 60) { return nil }
        let value: Value
        let byteCount: Int
        do {
            let bytes = try record.body.bytes()
            byteCount = bytes.count
            value = try lower.coding.decode(bytes)
        } catch {
            ledger.count { $0.decodingFailures += 1 }
            let failure = CacheError(
                .decodingFailed,
                "an entry of the tier is not a value of type \(Value.self)",
                cause: error
            )
            ledger.tell(key, .failed((error as? CacheError) ?? failure))
            return nil
        }
        return keep(
            record,
            value,
            key,
            generation,
            stamp,
            tags: lower.tags(of: record),
            cost: countsBytes ? byteCount : costOf?(value) ?? 1
        )
    }

    private func keep(
        _ record: CacheRecord,
        _ value: Value,
        _ key: Key,
        _ generation: UInt64,
        _ stamp: UInt64,
        tags: [String],
        cost: Int
    ) -> MemoryFound<Value> {
        let expires = record.expires?.microseconds ?? .max
        let staleAfter = record.staleAfter?.microseconds ?? expires
        // A record that expires before it is stale ends by the idle time, which memory counts from the last use.
        let usableUntil = configuration.timeToIdle == nil ? expires : max(expires, staleAfter)
        let freshUntil = min(staleAfter, usableUntil)
        let entry = NewEntry(
            key: key,
            value: value,
            freshUntil: freshUntil,
            detail: detail(
                created: record.created.microseconds,
                freshUntil: freshUntil,
                usableUntil: usableUntil,
                tags: tags,
                stamp: stamp
            ),
            cost: max(0, cost),
            generation: generation,
            onlyIfMissing: true
        )
        if let detail = entry.detail, detail.idle > 0 { detail.begin(at: clock.now.microseconds) }
        _ = memory.store(entry) { board.admit(tags, stamp: stamp) {} }
        return MemoryFound(value: value, freshUntil: freshUntil, detail: entry.detail)
    }

    /// Returns the details of an entry, or nil if its value and end of freshness suffice.
    func detail(
        created: Int64,
        freshUntil: Int64,
        usableUntil: Int64,
        tags: [String],
        stamp: UInt64,
        refreshes: Bool = false
    ) -> MemoryDetail? {
        let idle = configuration.timeToIdle?.microseconds ?? 0
        let refreshes = refreshes || configuration.policy.refreshAhead != nil
        let needsCreation = refreshes && freshUntil != .max
        guard usableUntil != freshUntil || !tags.isEmpty || idle > 0 || needsCreation else {
            return nil
        }
        return MemoryDetail(
            created: created,
            usableUntil: usableUntil,
            tags: tags,
            stamp: stamp,
            idle: idle
        )
    }
}
