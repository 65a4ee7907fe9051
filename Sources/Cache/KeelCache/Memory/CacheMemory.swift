/// The memory of one cache: its own table, or its part of a store's table.
///
/// It reports entries that leave to the ledger.
protocol CacheMemory<Key, Value>: AnyObject, Sendable {
    associatedtype Key: Hashable & Sendable
    associatedtype Value: Sendable

    /// Returns the entry for a key, and counts the use.
    func use(_ key: Key) -> MemoryFound<Value>?
    /// Returns the entry for a key without counting a use.
    func look(_ key: Key) -> MemoryFound<Value>?
    /// Removes an entry if it is still the one found before.
    func discard(_ key: Key, _ found: MemoryFound<Value>) -> Bool
    /// Turns a counted hit into a miss.
    func recount(_ key: Key)
    /// Returns whether the entry was idle for too long; otherwise counts a use.
    func wasIdle(_ key: Key, _ detail: MemoryDetail, at now: Int64) -> Bool
    func store(_ entry: NewEntry<Key, Value>, admission: () -> Bool) -> MemoryResult
    func remove(_ key: Key, admission: () -> Void)
    /// Makes values under way unfit to be stored.
    func overtakeAll()
    func removeAll()
    func sweep(at now: Int64, _ board: TagBoard)
    /// Marks that a value is being made, and returns its generation.
    func begin(_ key: Key) -> UInt64
    /// Returns whether nothing was stored or removed under the key since `begin(_:)`.
    func isCurrent(_ key: Key, _ generation: UInt64) -> Bool
    func end(_ key: Key)

    var count: Int { get }
    var cost: Int { get }
    var counts: MemoryCounts { get }
}

struct NewEntry<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    var key: Key
    var value: Value?
    var freshUntil: Int64
    var detail: MemoryDetail?
    var cost: Int
    /// The key's generation when making the value began, or nil to ignore later changes.
    var generation: UInt64?
    var onlyIfMissing = false
}

extension MemoryEntry {
    func isExpired(at now: Int64) -> Bool {
        usableUntil <= now || detail?.isIdle(at: now) == true
    }

    func isDead(at now: Int64, _ board: TagBoard) -> EntryDeath? {
        if isExpired(at: now) { return .expired }
        if let detail, !board.lives(detail.tags, stamp: detail.stamp) { return .invalidated }
        return nil
    }
}

enum EntryDeath: Sendable { case expired, invalidated }
