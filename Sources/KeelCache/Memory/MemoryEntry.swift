public import Synchronization

/// One entry of a memory table, on its way in or out.
@usableFromInline
struct MemoryEntry<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let hash: UInt64
    /// The end of freshness in microseconds since 1970; `.max` for one that never ends.
    @usableFromInline var freshUntil: Int64
    /// What few entries have.
    @usableFromInline var detail: MemoryDetail?
    @usableFromInline let key: Key
    /// Nil for a value that is known not to exist.
    @usableFromInline var value: Value?

    @inlinable
    init(hash: UInt64, freshUntil: Int64, detail: MemoryDetail?, key: Key, value: Value?) {
        self.hash = hash
        self.freshUntil = freshUntil
        self.detail = detail
        self.key = key
        self.value = value
    }
}

/// What every hit reads of an entry: as little as can be, since each line of memory counts.
@usableFromInline
struct MemorySlot<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let key: Key
    /// Nil for a value that is known not to exist.
    @usableFromInline var value: Value?
    /// Whether the entry has neither an end of freshness nor a detail.
    @usableFromInline let isPlain: Bool
    /// Whether a use waits to be told to the policy.
    @usableFromInline var isNoted = false

    @inlinable
    init(_ entry: MemoryEntry<Key, Value>) {
        key = entry.key
        value = entry.value
        isPlain = entry.freshUntil == .max && entry.detail == nil
    }
}

/// What a hit on a plain entry does not read.
@usableFromInline
struct MemoryMargin: Sendable {
    @usableFromInline let hash: UInt64
    @usableFromInline let freshUntil: Int64
    @usableFromInline let detail: MemoryDetail?

    @inlinable
    init(_ hash: UInt64, _ freshUntil: Int64, _ detail: MemoryDetail?) {
        self.hash = hash
        self.freshUntil = freshUntil
        self.detail = detail
    }
}

/// What an entry has beyond a value and the end of its freshness.
///
/// `@unchecked`, because of the time of idleness: only the holder of the shard's lock touches it.
@usableFromInline
final class MemoryDetail: @unchecked Sendable {
    /// Whether a newer value is being loaded.
    @usableFromInline let isRenewed = Atomic<Bool>(false)
    /// Whether times are all there is, and idleness is none of them.
    @usableFromInline let isPlain: Bool
    /// When the value was made.
    let created: Int64
    /// Up to when the value may be used after its freshness; `.max` for ever.
    @usableFromInline let usableUntil: Int64
    let tags: [String]
    /// The tag board's epoch when the value began to be made.
    let stamp: UInt64
    /// How long the entry is kept without being used; 0 for any time.
    let idle: Int64
    fileprivate(set) var idleUntil: Int64

    init(
        created: Int64,
        usableUntil: Int64,
        tags: [String] = [],
        stamp: UInt64 = 0,
        idle: Int64 = 0
    ) {
        self.created = created
        self.usableUntil = usableUntil
        self.tags = tags
        self.stamp = stamp
        self.idle = idle
        isPlain = tags.isEmpty && idle <= 0
        idleUntil = idle > 0 ? created &+ idle : .max
    }

    /// Notes a use under the shard's lock.
    ///
    /// - Returns: Whether the entry had been idle for too long.
    @usableFromInline
    func wasIdle(at now: Int64) -> Bool {
        guard idle > 0 else { return false }
        if idleUntil <= now { return true }
        idleUntil = now &+ idle
        return false
    }

    /// Whether the entry has been idle for too long, without noting a use.
    func isIdle(at now: Int64) -> Bool { idleUntil <= now }

    func setRenewed(_ isRenewed: Bool) { self.isRenewed.store(isRenewed, ordering: .relaxed) }

    /// Counts idleness from now on; the entry is not in a table yet.
    func begin(at now: Int64) { if idle > 0 { idleUntil = now &+ idle } }
}

/// What a table holds under a key.
struct MemoryFound<Value: Sendable>: Sendable {
    /// Nil for a value that is known not to exist.
    let value: Value?
    let freshUntil: Int64
    let detail: MemoryDetail?

    var usableUntil: Int64 { detail?.usableUntil ?? freshUntil }
}

/// The time at which an entry may no longer be used at all.
extension MemoryEntry {
    var usableUntil: Int64 { detail?.usableUntil ?? freshUntil }
}

/// What has left a table, to be told about and to die outside of its lock.
@usableFromInline
struct MemoryRemovals<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var first: MemoryEntry<Key, Value>?
    @usableFromInline var others: [MemoryEntry<Key, Value>] = []

    @inlinable
    init() {}

    @inlinable var isEmpty: Bool { first == nil }

    @inlinable
    mutating func add(_ entry: consuming MemoryEntry<Key, Value>) {
        if first == nil { first = entry } else { others.append(entry) }
    }

    func visit(_ body: (MemoryEntry<Key, Value>) -> Void) {
        if let first { body(first) }
        for entry in others { body(entry) }
    }
}

/// What became of an entry that was to be stored.
@usableFromInline
enum MemoryResult: Sendable {
    case stored
    /// The entry costs more than the table may hold; what was under its key is gone.
    case refused
    /// Something else was stored or removed under the key since the value began to be made.
    case overtaken
}

/// What became of an entry that was to be stored, and what left the table for it.
@usableFromInline
struct MemoryOutcome<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var result: MemoryResult
    /// What was under the key before.
    @usableFromInline var replaced: MemoryEntry<Key, Value>?
    /// What had to make room, possibly the new entry itself.
    @usableFromInline var evicted: MemoryRemovals<Key, Value>

    @inlinable
    init(_ result: MemoryResult) {
        self.result = result
        replaced = nil
        evicted = MemoryRemovals()
    }
}
