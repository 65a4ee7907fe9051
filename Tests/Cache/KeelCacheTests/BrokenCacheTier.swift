import KeelCache
import Synchronization

/// A tier that breaks one promise.
final class BrokenCacheTier: CacheTier {
    enum Fault: String, Sendable, CaseIterable {
        case ignoresExpiry = "returns what has expired"
        case renewsTimes = "renews times when it reads"
        case losesTags = "forgets tags"
        case ignoresTags = "does not remove by tag"
        case removesNewByTag = "removes what is written after its tag was removed"
        case keepsFirst = "keeps the value that was first"
        case mixesKeys = "takes keys that begin alike for one"
        case truncates = "cuts long values"
        case ignoresRemoval = "does not remove by key"
        case ignoresEverything = "does not remove everything"
        case dropsFiles = "does not take files of others"
        case exceedsLimit = "takes more than its limit"
        case countsNothing = "does not count reads"
        case keepsRefused = "keeps the old value under what is too large"
        case losesLast = "loses the last of several records"
    }

    private let fault: Fault
    private let clock: CacheClock
    private let base: InMemoryCacheTier
    private let limit: Int?
    private let removedTags = Mutex<Set<String>>([])

    init(_ fault: Fault, clock: CacheClock, byteLimit: Int?) {
        self.fault = fault
        self.clock = clock
        limit = byteLimit
        base = InMemoryCacheTier(
            byteLimit: fault == .exceedsLimit ? 64 << 20 : byteLimit ?? 64 << 20,
            clock: clock
        )
    }

    private func key(_ key: [UInt8]) -> [UInt8] { fault == .mixesKeys ? Array(key.prefix(1)) : key }

    func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        guard var record = try await base.read(self.key(key)) else { return nil }
        if fault == .mixesKeys { record.key = key }
        if fault == .renewsTimes { record.created = clock.now }
        if fault == .losesTags { record.tags = [] }
        if fault == .removesNewByTag,
            removedTags.withLock({ tags in record.tags.contains { tags.contains($0) } })
        {
            return nil
        }
        return record
    }

    func write(_ records: [CacheRecord]) async throws(CacheError) {
        var changed: [CacheRecord] = []
        for var record in fault == .losesLast && records.count > 1
            ? records.dropLast() : records[...]
        {
            record.key = key(record.key)
            if fault == .ignoresExpiry { record.expires = nil }
            if fault == .keepsFirst, try await base.read(record.key) != nil { continue }
            if fault == .truncates, record.body.count > 100_000 {
                record.body = .bytes(Array(try record.body.bytes().prefix(100_000)))
            }
            if fault == .dropsFiles, case .file = record.body { continue }
            if fault == .keepsRefused, record.body.count > limit ?? .max { continue }
            changed.append(record)
        }
        try await base.write(changed)
    }

    func remove(_ selection: CacheSelection) async throws(CacheError) {
        switch selection {
        case .tag(let tag):
            if fault == .ignoresTags { return }
            if fault == .removesNewByTag { removedTags.withLock { _ = $0.insert(tag) } }
        case .keys: if fault == .ignoresRemoval { return }
        case .everything: if fault == .ignoresEverything { return }
        case .expired: break
        }
        try await base.remove(selection)
    }

    func flush() async throws(CacheError) { try await base.flush() }

    func makeFile() async throws(CacheError) -> (any CacheFileWriter)? { nil }

    func usage() async throws(CacheError) -> CacheTierUsage {
        var usage = try await base.usage()
        if fault == .countsNothing { usage.hitCount = 0 }
        if fault == .exceedsLimit { usage.byteLimit = limit }
        return usage
    }
}
