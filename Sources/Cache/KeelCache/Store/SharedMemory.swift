final class SharedMemory<Key: Hashable & Sendable, Value: Sendable>: CacheMemory, Sendable {
    typealias Table = MemoryTable<StoreKey, any Sendable>

    private let table: Table
    private let ledger: CacheLedger<Key>
    private let view: StoreView

    init(_ table: Table, _ ledger: CacheLedger<Key>) {
        self.table = table
        self.ledger = ledger
        view = StoreView { key in
            ledger.count { $0.evictions += 1 }
            ledger.tell(key.key.base as? Key, .evicted)
        }
    }

    private func name(_ key: Key) -> (key: StoreKey, hash: UInt64) {
        let name = StoreKey(view, key)
        return (name, table.seed.hash(name))
    }

    func use(_ key: Key) -> MemoryFound<Value>? {
        let (name, hash) = name(key)
        let found = table.parts.use(name, hash: hash)
        ledger.count { statistics in
            if found == nil { statistics.misses += 1 } else { statistics.hits += 1 }
        }
        return found.map {
            typed(MemoryFound(value: $0.value, freshUntil: $0.freshUntil, detail: $0.detail))
        }
    }

    func look(_ key: Key) -> MemoryFound<Value>? {
        let (name, hash) = name(key)
        return table.look(name, hash: hash).map { typed($0) }
    }

    private func typed(_ found: MemoryFound<any Sendable>) -> MemoryFound<Value> {
        MemoryFound(
            value: found.value.flatMap { $0 as? Value },
            freshUntil: found.freshUntil,
            detail: found.detail
        )
    }

    func discard(_ key: Key, _ found: MemoryFound<Value>) -> Bool {
        let (name, hash) = name(key)
        return table.discard(
            name,
            hash: hash,
            detail: found.detail,
            freshUntil: found.freshUntil
        ) != nil
    }

    func recount(_ key: Key) {
        ledger.count { statistics in
            statistics.hits -= 1
            statistics.misses += 1
        }
    }

    func wasIdle(_ key: Key, _ detail: MemoryDetail, at now: Int64) -> Bool {
        table.wasIdle(detail, hash: name(key).hash, at: now)
    }

    func store(_ new: NewEntry<Key, Value>, admission: () -> Bool) -> MemoryResult {
        let (name, hash) = name(new.key)
        let entry = MemoryEntry<StoreKey, any Sendable>(
            hash: hash,
            freshUntil: new.freshUntil,
            detail: new.detail,
            key: name,
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
        if outcome.result == .rejected {
            ledger.count { $0.rejections += 1 }
            ledger.tell(new.key, .rejected)
        } else if outcome.replaced != nil {
            ledger.tell(new.key, .replaced)
        }
        outcome.evicted.visit { $0.key.view.tellEviction(of: $0.key) }
        return outcome.result
    }

    func remove(_ key: Key, admission: () -> Void) {
        let (name, hash) = name(key)
        let removed = withoutActuallyEscaping(admission) { admission in
            table.remove(name, hash: hash, admission: admission)
        }
        if removed != nil { ledger.tell(key, .removed) }
    }

    func overtakeAll() { table.overtakeAll() }

    func removeAll() {
        let removed = table.removeAll(pausingAfter: nil, overtakesAll: true) {
            $0.key.view === view
        }
        for entry in removed { ledger.tell(entry.key.key.base as? Key, .removed) }
    }

    func sweep(at now: Int64, _ board: TagBoard) {
        let removed = table.removeAll(pausingAfter: 1_000) {
            $0.key.view === view && $0.isDead(at: now, board) != nil
        }
        for entry in removed {
            ledger.tellDeath(of: entry.key.key.base as? Key, entry.isExpired(at: now))
        }
    }

    func begin(_ key: Key) -> UInt64 { table.begin(name(key).hash) }

    func isCurrent(_ key: Key, _ generation: UInt64) -> Bool {
        table.isCurrent(name(key).hash, generation)
    }

    func end(_ key: Key) { table.end(name(key).hash) }

    var count: Int { table.count(where: { $0.key.view === view }) }
    /// The cost of the whole store, because costs per cache are not kept.
    var cost: Int { table.cost }
    /// Counted by the ledger, because the table is shared.
    var counts: MemoryCounts { MemoryCounts() }
}

/// The key of an entry in the shared memory of a store.
///
/// `@unchecked`, because `AnyHashable` erases sendability; only `Sendable` keys are put into it.
@usableFromInline
struct StoreKey: Hashable, @unchecked Sendable {
    let view: StoreView
    let key: AnyHashable

    init(_ view: StoreView, _ key: some Hashable & Sendable) {
        self.view = view
        self.key = AnyHashable(key)
    }

    @usableFromInline
    static func == (left: Self, right: Self) -> Bool {
        left.view === right.view && left.key == right.key
    }

    @usableFromInline
    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(view))
        hasher.combine(key)
    }
}

/// One cache of a store, as seen by the others.
final class StoreView: Sendable {
    /// Called when memory evicts one of the cache's entries.
    private let evicted: @Sendable (StoreKey) -> Void

    init(evicted: @escaping @Sendable (StoreKey) -> Void) { self.evicted = evicted }

    func tellEviction(of key: StoreKey) { evicted(key) }
}
