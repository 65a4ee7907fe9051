internal import Synchronization

/// A tier that keeps entries in memory, for tests, previews and short-lived tools.
///
/// | property | behavior |
/// |---|---|
/// | byte limit | holds at every moment; least recently used entries are evicted |
/// | large values | kept as bytes; there are no files |
/// | end of the process | loses everything |
public final class InMemoryCacheTier: CacheTier {
    /// The maximum number of bytes of keys and values that the tier holds.
    public let byteLimit: Int
    private let clock: CacheClock
    private let state = Mutex(State())

    /// Creates an empty tier.
    ///
    /// - Parameters:
    ///   - byteLimit: The maximum number of bytes of keys and values; at least 1.
    ///   - clock: The clock that decides whether an entry has expired.
    public init(byteLimit: Int = 64 << 20, clock: CacheClock = .system) {
        self.byteLimit = max(1, byteLimit)
        self.clock = clock
    }

    public func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        let now = clock.now
        return state.withLock { $0.read(key, at: now) }
    }

    public func write(_ records: [CacheRecord]) async throws(CacheError) {
        for record in records {
            var record = record
            record.body = .bytes(try record.body.bytes())
            state.withLock { $0.write(record, limit: byteLimit) }
        }
    }

    public func remove(_ selection: CacheSelection) async throws(CacheError) {
        state.withLock { $0.remove(selection) }
    }

    public func flush() async throws(CacheError) {}

    public func makeFile() async throws(CacheError) -> (any CacheFileWriter)? { nil }

    public func usage() async throws(CacheError) -> CacheTierUsage {
        state.withLock { state in
            var usage = state.usage
            usage.entryCount = state.entries.count
            usage.byteLimit = byteLimit
            return usage
        }
    }
}

extension InMemoryCacheTier {
    private struct Entry: Sendable {
        var record: CacheRecord
        var lastUse: UInt64
        /// The sequence number of the write, to compare with removals by tag.
        var written: UInt64

        var size: Int { record.key.count + record.body.count }
    }

    private struct State: Sendable {
        var entries: [[UInt8]: Entry] = [:]
        var usage = CacheTierUsage()
        /// Entries in order of last use; a new use leaves a gap at the old position.
        private var uses: [(UInt64, [UInt8])] = []
        private var firstUse = 0
        private var removedTags: [String: UInt64] = [:]
        private var step: UInt64 = 0

        mutating func read(_ key: [UInt8], at now: CacheInstant) -> CacheRecord? {
            guard let entry = entries[key], isUsable(entry, at: now) else {
                usage.missCount += 1
                drop(key)
                return nil
            }
            usage.hitCount += 1
            use(key)
            return entry.record
        }

        mutating func write(_ record: CacheRecord, limit: Int) {
            step += 1
            drop(record.key)
            let entry = Entry(record: record, lastUse: step, written: step)
            guard entry.size <= limit else { return }
            while usage.byteCount + entry.size > limit, let oldest = leastRecentlyUsed() {
                drop(oldest)
                usage.evictionCount += 1
            }
            entries[record.key] = entry
            usage.byteCount += entry.size
            use(record.key)
        }

        mutating func remove(_ selection: CacheSelection) {
            step += 1
            switch selection {
            case .keys(let keys):
                for key in keys { drop(key) }
            case .tag(let tag):
                removedTags[tag] = step
                if removedTags.count > Self.rememberedTagCount { forgetTags() }
            case .expired(let time):
                for (key, entry) in entries {
                    if let expires = entry.record.expires, expires <= time { drop(key) }
                }
            case .everything:
                entries = [:]
                uses = []
                firstUse = 0
                removedTags = [:]
                usage.byteCount = 0
            }
        }

        private func isUsable(_ entry: Entry, at now: CacheInstant) -> Bool {
            if let expires = entry.record.expires, expires <= now { return false }
            return !entry.record.tags.contains { (removedTags[$0] ?? 0) > entry.written }
        }

        /// Drops all entries with tags, so that the memory for removed tags is bounded.
        private mutating func forgetTags() {
            for (key, entry) in entries where !entry.record.tags.isEmpty { drop(key) }
            removedTags = [:]
        }

        private static var rememberedTagCount: Int { 10_000 }

        private mutating func drop(_ key: [UInt8]) {
            guard let entry = entries.removeValue(forKey: key) else { return }
            usage.byteCount -= entry.size
        }

        private mutating func use(_ key: [UInt8]) {
            step += 1
            entries[key]?.lastUse = step
            uses.append((step, key))
            guard uses.count > 2 * entries.count + 64 else { return }
            // Mostly gaps and the places of evicted entries: keep only the latest use of each entry.
            uses = uses[firstUse...].filter { entries[$0.1]?.lastUse == $0.0 }
            firstUse = 0
        }

        private mutating func leastRecentlyUsed() -> [UInt8]? {
            while firstUse < uses.count {
                let (use, key) = uses[firstUse]
                firstUse += 1
                if entries[key]?.lastUse == use { return key }
            }
            return nil
        }
    }
}
