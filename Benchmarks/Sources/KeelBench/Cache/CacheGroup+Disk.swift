import Foundation
import KeelCache

extension CacheGroup {
    static func disk(_ options: Options) -> [Measure] {
        let count = options.scaled(10_000)
        func pair(_ count: Int, of byteCount: Int, byteLimit: Int) -> Lazily<DiskPair> {
            Lazily {
                try await DiskPair(
                    count: count,
                    of: byteCount,
                    byteLimit: byteLimit,
                    in: options.folder
                )
            }
        }
        // A limit that later entries exceed, because eviction is part of a put.
        let written = pair(count, of: 4096, byteLimit: options.scaled(64 << 20))
        return [
            put(written, options),
            bulkPut(written, options),
            get(pair(count, of: 4096, byteLimit: 1 << 30), options),
            open(pair(options.scaled(100_000), of: 96, byteLimit: 1 << 30), options),
        ]
    }

    private static func put(_ pair: Lazily<DiskPair>, _ options: Options) -> Measure {
        let count = options.scaled(4_000)
        return Measure(
            name: "disk put of 4 KiB, flushed / SQLite",
            target: .atMost(0.35),
            keel: {
                let pair = try await pair.value()
                let entries = pair.replacements(count)
                return try await Timing.perCall(count) { try await pair.put(entries[$0...$0]) }
            },
            peer: {
                let pair = try await pair.value()
                let entries = pair.replacements(count)
                return try Timing.perCall(count) {
                    try pair.peer.put(entries[$0], expires: DiskPair.later())
                }
            }
        )
    }

    private static func bulkPut(_ pair: Lazily<DiskPair>, _ options: Options) -> Measure {
        let count = options.scaled(100)
        return Measure(
            name: "disk put of 4 KiB, 50 at a time / SQLite",
            target: .info,
            keel: {
                let pair = try await pair.value()
                let entries = pair.replacements(count * 50)
                return try await Timing.perCall(count) {
                    try await pair.put(entries[($0 * 50)..<($0 * 50 + 50)])
                } / 50
            },
            peer: {
                let pair = try await pair.value()
                let entries = pair.replacements(count * 50)
                return try Timing.perCall(count) {
                    let some = entries[($0 * 50)..<($0 * 50 + 50)]
                    try pair.peer.put(some, expires: DiskPair.later())
                } / 50
            }
        )
    }

    private static func get(_ pair: Lazily<DiskPair>, _ options: Options) -> Measure {
        let count = options.scaled(10_000)
        @Sendable func keys(_ pair: DiskPair) -> [String] {
            (0..<count).map { _ in DiskPair.key(.random(in: 0..<pair.count)) }
        }
        return Measure(
            name: "disk get of 4 KiB / SQLite",
            target: .atMost(0.6),
            keel: {
                let pair = try await pair.value()
                let keys = keys(pair)
                return try await Timing.perCall(count) { number in
                    let record = try await pair.tier.read(Array(keys[number].utf8))
                    guard try record?.body.bytes().count == 4096 else {
                        throw Flaw("an entry was not found in the tier")
                    }
                }
            },
            peer: {
                let pair = try await pair.value()
                let keys = keys(pair)
                return try Timing.perCall(count) { number in
                    let now = CacheClock.system.now.microseconds
                    guard try pair.peer.get(keys[number], now: now)?.count == 4096 else {
                        throw Flaw("a row was not found")
                    }
                }
            }
        )
    }

    private static func open(_ pair: Lazily<DiskPair>, _ options: Options) -> Measure {
        let closed = Lazily {
            let pair = try await pair.value()
            try await pair.close()
            return pair
        }
        return Measure(
            name: "open 100,000 entries / SQLite, all keys read",
            target: .atMost(0.5),
            keel: {
                let pair = try await closed.value()
                let start = ContinuousClock.now
                let tier = try DiskCacheTier(
                    at: pair.keelFolder,
                    configuration: DiskCacheTier.Configuration(byteLimit: 1 << 30)
                )
                let time = start.duration(to: .now)
                guard try await tier.usage().entryCount == pair.count else {
                    throw Flaw("not all entries were found")
                }
                await tier.close()
                return time.microseconds
            },
            peer: {
                let pair = try await closed.value()
                return try PeerTable.open(pair.peerFile.path, count: pair.count)
            }
        )
    }
}
