public import Synchronization

@usableFromInline
struct MemoryEntry<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let hash: UInt64
    /// The end of freshness in microseconds since 1970, or `.max` if there is none.
    @usableFromInline var freshUntil: Int64
    @usableFromInline var detail: MemoryDetail?
    @usableFromInline let key: Key
    /// Nil for a key known to have no value.
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

/// The part of an entry that every hit reads, kept small.
@usableFromInline
struct MemorySlot<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let key: Key
    @usableFromInline var value: Value?
    /// Whether the entry has neither an end of freshness nor a detail.
    @usableFromInline let isPlain: Bool
    /// Whether a use has not been reported to the policy yet.
    @usableFromInline var isNoted = false

    @inlinable
    init(_ entry: MemoryEntry<Key, Value>) {
        key = entry.key
        value = entry.value
        isPlain = entry.freshUntil == .max && entry.detail == nil
    }
}

/// The part of an entry that hits on plain entries do not read.
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

/// The rarer properties of an entry.
///
/// `@unchecked`, because of the idle time: only the holder of the shard's lock touches it.
@usableFromInline
final class MemoryDetail: @unchecked Sendable {
    /// Whether a newer value is being loaded.
    @usableFromInline let isRenewed = Atomic<Bool>(false)
    /// Whether the entry has neither tags nor an idle time.
    @usableFromInline let isPlain: Bool
    let created: Int64
    /// The end of the value's staleness, or `.max` if there is none.
    @usableFromInline let usableUntil: Int64
    let tags: [String]
    /// The tag board's epoch when making the value began.
    let stamp: UInt64
    /// How long the entry may remain unused; 0 for no limit.
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

    /// Counts a use; returns whether the entry had been idle for too long.
    @usableFromInline
    func wasIdle(at now: Int64) -> Bool {
        guard idle > 0 else { return false }
        if idleUntil <= now { return true }
        idleUntil = now &+ idle
        return false
    }

    func isIdle(at now: Int64) -> Bool { idleUntil <= now }

    func setRenewed(_ isRenewed: Bool) { self.isRenewed.store(isRenewed, ordering: .relaxed) }

    func begin(at now: Int64) { if idle > 0 { idleUntil = now &+ idle } }
}

struct MemoryFound<Value: Sendable>: Sendable {
    let value: Value?
    let freshUntil: Int64
    let detail: MemoryDetail?

    var usableUntil: Int64 { detail?.usableUntil ?? freshUntil }
}

extension MemoryEntry {
    var usableUntil: Int64 { detail?.usableUntil ?? freshUntil }
}

/// Entries that left a table, to be reported and released outside its lock.
@usableFromInline
struct MemoryRemovals<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var first: MemoryEntry<Key, Value>?
    @usableFromInline var others: [MemoryEntry<Key, Value>] = []

    @inlinable
    init() {}

    @inlinable
    mutating func add(_ entry: consuming MemoryEntry<Key, Value>) {
        if first == nil { first = entry } else { others.append(entry) }
    }

    func visit(_ body: (MemoryEntry<Key, Value>) -> Void) {
        if let first { body(first) }
        for entry in others { body(entry) }
    }
}

@usableFromInline
enum MemoryResult: Sendable {
    case stored
    /// The entry costs more than the table may hold; the old entry was removed.
    case rejected
    /// The key was set or removed since making the value began.
    case superseded
}

@usableFromInline
struct MemoryOutcome<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var result: MemoryResult
    @usableFromInline var replaced: MemoryEntry<Key, Value>?
    /// The evicted entries, possibly including the new one.
    @usableFromInline var evicted: MemoryRemovals<Key, Value>

    @inlinable
    init(_ result: MemoryResult) {
        self.result = result
        replaced = nil
        evicted = MemoryRemovals()
    }
}
