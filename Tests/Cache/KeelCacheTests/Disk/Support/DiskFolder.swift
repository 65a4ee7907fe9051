import Foundation
import KeelCache
import KeelCore
import KeelTestSupport

/// A folder on disk that is removed with its last reference.
final class DiskFolder: Sendable {
    let url: URL

    init() {
        url = FileManager.default.temporaryDirectory.appending(
            path: "keel-cache-\(UUID().uuidString)"
        )
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func tier(
        limit: Int = 1 << 20,
        _ change: (inout DiskCacheTier.Configuration) -> Void = { _ in }
    ) throws -> DiskCacheTier {
        var configuration = DiskCacheTier.Configuration(byteLimit: limit)
        change(&configuration)
        return try DiskCacheTier(at: url, configuration: configuration)
    }

    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
            contents[name] = try Data(contentsOf: url.appending(path: name))
        }
        return contents
    }

    func names() throws -> [String] { try contents().keys.sorted() }
}

extension SimulatedFileSystem {
    /// Opens a tier on this disk, in a fixed folder.
    func tier(
        limit: Int = 1 << 20,
        seed: UInt64 = 1,
        _ change: (inout DiskCacheTier.Configuration) -> Void = { _ in }
    ) throws -> DiskCacheTier {
        var configuration = DiskCacheTier.Configuration(byteLimit: limit)
        configuration.fileSystem = self
        change(&configuration)
        return try DiskCacheTier(path: "/cache", configuration: configuration)
    }
}

extension CacheTier {
    func set(
        _ key: String,
        _ value: [UInt8],
        tags: [String] = [],
        expires: CacheInstant? = nil
    ) async throws {
        try await write([record(key, value, tags: tags, expires: expires)])
    }

    func value(_ key: String) async throws -> [UInt8]? {
        try await read(Array(key.utf8))?.body.bytes()
    }
}

func record(
    _ key: String,
    _ value: [UInt8],
    tags: [String] = [],
    expires: CacheInstant? = nil
) -> CacheRecord {
    CacheRecord(
        key: Array(key.utf8),
        body: .bytes(value),
        created: CacheInstant(microseconds: 1_000_000),
        expires: expires,
        tags: tags
    )
}

/// Returns bytes that identify their origin.
func bytes(_ count: Int, seed: Int = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed &* 7) }
}

func cacheError(of body: () async throws -> Void) async -> CacheError? {
    do {
        try await body()
        return nil
    } catch { return error as? CacheError }
}
