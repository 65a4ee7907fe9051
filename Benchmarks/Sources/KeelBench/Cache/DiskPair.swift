import Foundation
import KeelCache

/// The same entries in a disk tier and in SQLite, each in a separate folder.
final class DiskPair: Sendable {
    /// The key of a number, with a random value.
    struct Entry: Sendable {
        let key: String
        let value: [UInt8]
        let data: Data

        init(_ number: Int, byteCount: Int) {
            key = DiskPair.key(number)
            var generator = Generator(seed: .random(in: .min ... .max))
            value = (0..<byteCount / 8).flatMap { _ in
                withUnsafeBytes(of: generator.next(), Array.init)
            }
            data = Data(value)
        }
    }

    let count: Int
    let keelFolder: URL
    let peerFile: URL
    let tier: DiskCacheTier
    let peer: PeerTable
    private let folder: URL
    private let byteCount: Int

    /// Fills both sides, in a folder of their own in `folder`, which is removed with the pair.
    @concurrent
    init(count: Int, of byteCount: Int, byteLimit: Int, in folder: URL) async throws {
        self.count = count
        self.byteCount = byteCount
        self.folder = folder.appending(path: "keel-bench-cache-\(UUID().uuidString)")
        keelFolder = self.folder.appending(path: "keel")
        peerFile = self.folder.appending(path: "peer.sqlite")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        tier = try DiskCacheTier(
            at: keelFolder,
            configuration: DiskCacheTier.Configuration(byteLimit: byteLimit)
        )
        peer = try PeerTable(peerFile.path)
        for start in stride(from: 0, to: count, by: 500) {
            let numbers = start..<min(start + 500, count)
            let entries = numbers.map { Entry($0, byteCount: byteCount) }
            try await put(entries)
            try peer.put(entries, expires: Self.later())
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static func key(_ number: Int) -> String { Draws.text(number) }

    /// Returns replacements of entries, in random order.
    func replacements(_ amount: Int) -> [Entry] {
        (0..<amount).map { _ in Entry(.random(in: 0..<count), byteCount: byteCount) }
    }

    /// Stores entries in the tier durably.
    func put(_ entries: some Collection<Entry>) async throws {
        let records = entries.map { entry in
            let created = CacheClock.system.now
            return CacheRecord(
                key: Array(entry.key.utf8),
                body: .bytes(entry.value),
                created: created,
                expires: created.advanced(bySeconds: 3600)
            )
        }
        try await tier.write(records)
        try await tier.flush()
    }

    static func later() -> Int64 { CacheClock.system.now.advanced(bySeconds: 3600).microseconds }

    /// Closes both sides, with nothing left to replay.
    func close() async throws {
        await tier.close()
        try peer.close()
    }
}
