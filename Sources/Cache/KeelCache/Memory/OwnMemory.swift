@usableFromInline
final class OwnMemory<Key: Hashable & Sendable, Value: Sendable>: CacheMemory, Sendable {
    let table: MemoryTable<Key, Value>
    let ledger: CacheLedger<Key>

    init(_ table: MemoryTable<Key, Value>, _ ledger: CacheLedger<Key>) {
        self.table = table
        self.ledger = ledger
    }

    func use(_ key: Key) -> MemoryFound<Value>? {
        table.parts.use(key, hash: table.seed.hash(key)).map {
            MemoryFound(value: $0.value, freshUntil: $0.freshUntil, detail: $0.detail)
        }
    }

    func look(_ key: Key) -> MemoryFound<Value>? { table.look(key, hash: table.seed.hash(key)) }

    func discard(_ key: Key, _ found: MemoryFound<Value>) -> Bool {
        table.discard(
            key,
            hash: table.seed.hash(key),
            detail: found.detail,
            freshUntil: found.freshUntil
        ) != nil
    }

    func recount(_ key: Key) { table.recount(table.seed.hash(key)) }

    func wasIdle(_ key: Key, _ detail: MemoryDetail, at now: Int64) -> Bool {
        table.wasIdle(detail, hash: table.seed.hash(key), at: now)
    }

    func store(_ new: NewEntry<Key, Value>, admission: () -> Bool) -> MemoryResult {
        let entry = MemoryEntry(
            hash: table.seed.hash(new.key),
            freshUntil: new.freshUntil,
            detail: new.detail,
            key: new.key,
            value: new.value
        )
        let outcome = withoutActuallyEscaping(admission) { admission in
            table.parts.store(
                entry,
                cost: new.cost,
                generation: new.generation,
                onlyIfMissing: new.onlyIfMissing,
                admission: admission
            )
        }
        tell(outcome, of: new.key)
        return outcome.result
    }

    @usableFromInline var hasListeners: Bool { ledger.hasListeners }

    @usableFromInline
    func tell(_ outcome: MemoryOutcome<Key, Value>, of key: Key) {
        if outcome.result == .rejected { ledger.count { $0.rejections += 1 } }
        guard ledger.hasListeners else { return }
        if outcome.result == .rejected { ledger.tell(key, .rejected) }
        if outcome.replaced != nil, outcome.result == .stored { ledger.tell(key, .replaced) }
        outcome.evicted.visit { ledger.tell($0.key, .evicted) }
    }

    func remove(_ key: Key, admission: () -> Void) {
        let removed = withoutActuallyEscaping(admission) { admission in
            table.remove(key, hash: table.seed.hash(key), admission: admission)
        }
        if removed != nil { ledger.tell(key, .removed) }
    }

    func overtakeAll() { table.overtakeAll() }

    func removeAll() {
        let listens = ledger.hasListeners
        table.removeAll { if listens { ledger.tell($0.key, .removed) } }
    }

    func sweep(at now: Int64, _ board: TagBoard) {
        let removed = table.removeAll(pausingAfter: 1_000) { $0.isDead(at: now, board) != nil }
        for entry in removed { ledger.tellDeath(of: entry.key, entry.isExpired(at: now)) }
    }

    func begin(_ key: Key) -> UInt64 { table.begin(table.seed.hash(key)) }

    func isCurrent(_ key: Key, _ generation: UInt64) -> Bool {
        table.isCurrent(table.seed.hash(key), generation)
    }

    func end(_ key: Key) { table.end(table.seed.hash(key)) }

    var count: Int { table.count }
    var cost: Int { table.cost }
    var counts: MemoryCounts { table.counts }
}

extension CacheLedger {
    func tellDeath(of key: Key?, _ isExpired: Bool) {
        count { statistics in
            if isExpired { statistics.expirations += 1 } else { statistics.invalidations += 1 }
        }
        tell(key, isExpired ? .expired : .invalidated)
    }
}
