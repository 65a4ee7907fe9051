/// The memory of one cache: a table of its own, or its part of a store's.
protocol CacheMemory<Key, Value>: AnyObject, Sendable {
    associatedtype Key: Hashable & Sendable
    associatedtype Value: Sendable

    /// What is under a key; a use is noted and counted.
    func use(_ key: Key) -> MemoryFound<Value>?
    /// What is under a key, without noting a use.
    func look(_ key: Key) -> MemoryFound<Value>?
    /// Takes out what was found under a key, if it is still there.
    func discard(_ key: Key, _ found: MemoryFound<Value>) -> Bool
    /// Turns a hit that was counted into a miss.
    func recount(_ key: Key)
    /// Whether what was found had been idle for too long; a use is noted.
    func wasIdle(_ key: Key, _ detail: MemoryDetail, at now: Int64) -> Bool
    /// Stores an entry; see `MemoryTable`. The ledger is told of what leaves.
    func store(_ entry: NewEntry<Key, Value>, admission: () -> Bool) -> MemoryResult
    /// Takes an entry out, and tells the ledger.
    func remove(_ key: Key, admission: () -> Void)
    /// Makes values that are under way unfit to be stored.
    func overtakeAll()
    /// Takes all of the cache's entries out, and tells the ledger.
    func removeAll()
    /// Takes out the entries that are dead, and tells the ledger.
    func sweep(at now: Int64, _ board: TagBoard)
    /// Notes that a value begins to be made, and gives its generation.
    func begin(_ key: Key) -> UInt64
    /// Whether nothing was stored or removed under a key since it was begun.
    func isCurrent(_ key: Key, _ generation: UInt64) -> Bool
    /// Ends what was begun.
    func end(_ key: Key)

    var count: Int { get }
    var cost: Int { get }
    var counts: MemoryCounts { get }
    var holderCount: Int { get }
}

/// An entry on its way into memory.
struct NewEntry<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    var key: Key
    var value: Value?
    var freshUntil: Int64
    var detail: MemoryDetail?
    var cost: Int
    /// What the value's making began with, nil for a value that counts whatever happened meanwhile.
    var generation: UInt64?
    /// Whether an entry that is there stays.
    var onlyIfMissing = false
}

extension MemoryEntry {
    /// Whether the entry's time is over, or it was not used for too long.
    func isExpired(at now: Int64) -> Bool {
        usableUntil <= now || detail?.isIdle(at: now) == true
    }

    /// Whether the entry can be of no more use to anybody.
    func isDead(at now: Int64, _ board: TagBoard) -> EntryDeath? {
        if isExpired(at: now) { return .expired }
        if let detail, !board.lives(detail.tags, stamp: detail.stamp) { return .invalidated }
        return nil
    }
}

/// Why an entry is dead.
enum EntryDeath: Sendable { case expired, invalidated }
