import KeelCache
import Synchronization

/// A stand-in for an SDK that stores values by name, without times or tags.
final class LegacySDK: Sendable {
    struct Item: Sendable {
        var data: [UInt8]
        var info: [String: String]
    }

    private let items = Mutex<[[UInt8]: Item]>([:])

    var all: [[UInt8]: Item] { items.withLock { $0 } }

    func item(named name: [UInt8]) -> Item? { items.withLock { $0[name] } }
    func store(_ item: Item, named name: [UInt8]) { items.withLock { $0[name] = item } }
    func removeItem(named name: [UInt8]) { items.withLock { _ = $0.removeValue(forKey: name) } }
}

/// A tier over an SDK that knows names and data alone.
final class LegacyCacheTier: CacheTier {
    private let sdk = LegacySDK()
    private let clock: CacheClock
    private let state = Mutex((step: 0, removedTags: [String: Int](), usage: CacheTierUsage()))

    init(clock: CacheClock) { self.clock = clock }

    func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        let record = sdk.item(named: key).flatMap { usable($0, key) }
        state.withLock { state in
            if record == nil { state.usage.missCount += 1 } else { state.usage.hitCount += 1 }
        }
        return record
    }

    func write(_ records: [CacheRecord]) async throws(CacheError) {
        for record in records {
            var info = ["created": "\(record.created.microseconds)", "step": "\(nextStep())"]
            info["stale"] = record.staleAfter.map { "\($0.microseconds)" }
            info["expires"] = record.expires.map { "\($0.microseconds)" }
            for (index, tag) in record.tags.enumerated() { info["tag\(index)"] = tag }
            let item = LegacySDK.Item(data: try record.body.bytes(), info: info)
            sdk.store(item, named: record.key)
        }
    }

    func remove(_ selection: CacheSelection) async throws(CacheError) {
        switch selection {
        case .keys(let keys): for key in keys { sdk.removeItem(named: key) }
        case .tag(let tag):
            let step = nextStep()
            state.withLock { $0.removedTags[tag] = step }
        case .expired(let time):
            for (key, item) in sdk.all {
                guard let end = self.time("expires", item), end <= time else { continue }
                sdk.removeItem(named: key)
            }
        case .everything: for key in sdk.all.keys { sdk.removeItem(named: key) }
        }
    }

    func flush() async throws(CacheError) {}

    func makeFile() async throws(CacheError) -> (any CacheFileWriter)? { nil }

    func usage() async throws(CacheError) -> CacheTierUsage {
        var usage = state.withLock { $0.usage }
        usage.entryCount = sdk.all.count
        usage.byteCount = sdk.all.reduce(0) { $0 + $1.key.count + $1.value.data.count }
        return usage
    }

    private func usable(_ item: LegacySDK.Item, _ key: [UInt8]) -> CacheRecord? {
        guard let created = time("created", item) else { return nil }
        let expires = time("expires", item)
        if let expires, expires <= clock.now { return nil }
        let tags = item.info.filter { $0.key.hasPrefix("tag") }.map(\.value)
        let step = item.info["step"].flatMap(Int.init) ?? 0
        let wasRemoved = state.withLock { state in
            tags.contains { (state.removedTags[$0] ?? 0) > step }
        }
        if wasRemoved { return nil }
        return CacheRecord(
            key: key,
            body: .bytes(item.data),
            created: created,
            staleAfter: time("stale", item),
            expires: expires,
            tags: tags
        )
    }

    private func time(_ name: String, _ item: LegacySDK.Item) -> CacheInstant? {
        item.info[name].flatMap(Int64.init).map { CacheInstant(microseconds: $0) }
    }

    private func nextStep() -> Int {
        state.withLock { state in
            state.step += 1
            return state.step
        }
    }
}
