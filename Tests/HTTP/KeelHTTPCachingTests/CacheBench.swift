import Foundation
import HTTPTypes
import KeelCache
import KeelHTTP
import KeelHTTPCaching
import KeelTestKit
import Synchronization

/// A cache over a scripted origin, on a test clock.
struct CacheBench: Sendable {
    typealias Answer = ScriptedHTTPTransport.Answer

    let clock = TestClock()
    let origin: ScriptedHTTPTransport
    let cache: HTTPCache

    init(
        _ answers: [Answer] = [],
        then fallback: Answer = .failure(TransportError(.offline)),
        tier: (any CacheTier)? = nil,
        _ change: (inout HTTPCache.Configuration) -> Void = { _ in }
    ) {
        origin = ScriptedHTTPTransport(answers, then: fallback)
        var configuration = HTTPCache.Configuration()
        change(&configuration)
        let time = CacheClock.following(clock)
        cache = HTTPCache(configuration, tier: tier ?? InMemoryCacheTier(clock: time), clock: time)
    }

    struct Outcome: Sendable {
        var status: Int
        var fields: HTTPFields
        var text: String
        var result: HTTPCacheResult?
    }

    /// Sends a request and reads its body.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method = .get,
        _ path: String = "/menu",
        _ fields: HTTPFields = [:],
        policy: HTTPCachePolicy = .standard,
        host: String = "api.example.com"
    ) async throws -> Outcome {
        let reply = try await open(method, path, fields, policy: policy, host: host)
        let bytes = try await reply.body.collect(upTo: .max)
        return Outcome(
            status: reply.head.status.code,
            fields: reply.head.headerFields,
            text: String(decoding: bytes, as: UTF8.self),
            result: reply.cacheResult
        )
    }

    /// Sends a request without reading its body.
    func open(
        _ method: HTTPRequest.Method = .get,
        _ path: String = "/menu",
        _ fields: HTTPFields = [:],
        policy: HTTPCachePolicy = .standard,
        host: String = "api.example.com"
    ) async throws -> HTTPReply {
        var call = HTTPCall(HTTPRequest("https://\(host)\(path)", method, fields))
        call.options.cachePolicy = policy
        return try await cache.send(call, over: origin)
    }

    var requestCount: Int { origin.calls.count }

    func pass(_ seconds: Int) async { await clock.advance(by: .seconds(seconds)) }

    static func text(
        _ text: String,
        _ cacheControl: String? = "max-age=60",
        _ more: HTTPFields = [:]
    ) -> Answer {
        var fields = more
        if let cacheControl { fields[.cacheControl] = cacheControl }
        fields[.contentLength] = String(text.utf8.count)
        return .status(.ok, headers: fields, body: Array(text.utf8))
    }
}

/// A tier that fails on demand.
final class FaultyTier: CacheTier {
    enum Operation: Hashable, Sendable { case read, write, remove, makeFile }

    let base: InMemoryCacheTier
    private let failing = Mutex<Set<Operation>>([])

    init(_ clock: CacheClock) { base = InMemoryCacheTier(clock: clock) }

    func fail(_ operations: Set<Operation>) { failing.withLock { $0 = operations } }

    private func check(_ operation: Operation) throws(CacheError) {
        guard failing.withLock({ $0.contains(operation) }) else { return }
        throw CacheError(.unavailable, "The tier fails as it was told to.")
    }

    func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        try check(.read)
        return try await base.read(key)
    }

    func write(_ records: [CacheRecord]) async throws(CacheError) {
        try check(.write)
        try await base.write(records)
    }

    func remove(_ selection: CacheSelection) async throws(CacheError) {
        try check(.remove)
        try await base.remove(selection)
    }

    func flush() async throws(CacheError) {}

    func makeFile() async throws(CacheError) -> (any CacheFileWriter)? {
        try check(.makeFile)
        return nil
    }

    func usage() async throws(CacheError) -> CacheTierUsage { try await base.usage() }
}

/// A tier that keeps large bodies as files, here in memory.
final class FilingTier: CacheTier {
    final class File: CacheFile {
        let bytes: [UInt8]
        let owner: FilingTier

        init(_ bytes: [UInt8], _ owner: FilingTier) {
            self.bytes = bytes
            self.owner = owner
        }

        var count: Int { bytes.count }

        func read(from offset: Int, upTo length: Int) throws(CacheError) -> [UInt8] {
            if offset + length > owner.damage.withLock({ $0 }) {
                throw CacheError(.decodingFailed, "The file is damaged as it was told to be.")
            }
            return Array(bytes[offset..<min(bytes.count, offset + length)])
        }
    }

    final class Writer: CacheFileWriter {
        private let bytes = Mutex<[UInt8]>([])
        private let owner: FilingTier

        init(_ owner: FilingTier) { self.owner = owner }

        func append(_ more: [UInt8]) throws(CacheError) { bytes.withLock { $0 += more } }

        func finish() throws(CacheError) -> any CacheFile {
            owner.counts.withLock { $0.finished += 1 }
            return File(bytes.withLock { $0 }, owner)
        }

        func discard() { owner.counts.withLock { $0.discarded += 1 } }
    }

    var begun: Int { counts.withLock { $0.begun } }
    var finished: Int { counts.withLock { $0.finished } }
    /// Damages all files from this byte on.
    func damage(from offset: Int) { damage.withLock { $0 = offset } }

    fileprivate let damage = Mutex(Int.max)
    fileprivate let counts = Mutex<(begun: Int, finished: Int, discarded: Int)>((0, 0, 0))
    private let records = Mutex<[[UInt8]: CacheRecord]>([:])

    func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        records.withLock { $0[key] }
    }

    func write(_ new: [CacheRecord]) async throws(CacheError) {
        records.withLock { records in
            for record in new { records[record.key] = record }
        }
    }

    func remove(_ selection: CacheSelection) async throws(CacheError) {
        records.withLock { records in
            switch selection {
            case .keys(let keys): for key in keys { records[key] = nil }
            case .tag(let tag): records = records.filter { !$0.value.tags.contains(tag) }
            case .expired, .everything: records = [:]
            }
        }
    }

    func flush() async throws(CacheError) {}

    func makeFile() async throws(CacheError) -> (any CacheFileWriter)? {
        counts.withLock { $0.begun += 1 }
        return Writer(self)
    }

    func usage() async throws(CacheError) -> CacheTierUsage { CacheTierUsage() }
}
