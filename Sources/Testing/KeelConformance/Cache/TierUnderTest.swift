import KeelCache
import KeelTestKit
import Synchronization
import Testing

final class TierUnderTest: Sendable {
    let clock = TestClock()
    private let time: CacheClock
    private let name: String
    private let subject: CacheTierSubject
    private let opened = Mutex<(any CacheTier)?>(nil)

    private init(_ subject: CacheTierSubject) {
        self.subject = subject
        time = .following(clock)
        name = "check-" + String(UInt64.random(in: .min ... .max), radix: 36)
    }

    static func run(
        on subject: CacheTierSubject,
        _ body: (TierUnderTest) async throws -> Void
    ) async throws {
        let test = TierUnderTest(subject)
        try await test.open()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(test))
        } catch {
            result = .failure(error)
        }
        try await test.close()
        try result.get()
    }

    var features: CacheTierSubject.Features { subject.features }

    // MARK: Opening

    /// The open tier; a check must not keep it across ``reopen(after:byteLimit:)``.
    var tier: any CacheTier {
        get throws { try #require(opened.withLock { $0 }, "the tier is closed") }
    }

    private func open(byteLimit: Int? = nil) async throws {
        let setting = CacheTierSubject.Setting(clock: time, name: name, byteLimit: byteLimit)
        let tier = try await subject.open(setting)
        opened.withLock { $0 = tier }
    }

    private func close() async throws {
        guard let tier = opened.withLock({ $0.take() }) else { return }
        try await subject.close(tier)
    }

    func reopen(after pause: Duration = .zero, byteLimit: Int? = nil) async throws {
        try await close()
        await clock.advance(by: pause)
        try await open(byteLimit: byteLimit)
    }

    // MARK: Time

    var now: CacheInstant { time.now }

    func later(_ seconds: Double) -> CacheInstant { time.now.advanced(bySeconds: seconds) }

    func pass(_ seconds: Int) async { await clock.advance(by: .seconds(seconds)) }

    // MARK: Calls

    func record(
        _ key: String,
        _ value: [UInt8] = [1],
        expires: CacheInstant? = nil,
        tags: [String] = []
    ) -> CacheRecord {
        CacheRecord(
            key: Array(key.utf8),
            body: .bytes(value),
            created: now,
            expires: expires,
            tags: tags
        )
    }

    func write(_ records: CacheRecord...) async throws { try await tier.write(records) }

    func remove(_ selection: CacheSelection) async throws { try await tier.remove(selection) }

    func remove(_ keys: String...) async throws {
        try await tier.remove(.keys(keys.map { Array($0.utf8) }))
    }

    func flush() async throws { try await tier.flush() }

    func read(_ key: String) async throws -> CacheRecord? {
        try await tier.read(Array(key.utf8))
    }

    func value(_ key: String) async throws -> [UInt8]? { try await read(key)?.body.bytes() }

    func found(_ keys: String...) async throws -> [String] {
        var found: [String] = []
        for key in keys where try await read(key) != nil { found.append(key) }
        return found
    }
}

/// A file of another tier, such as a cache passes on when it copies an entry.
final class ForeignFile: CacheFile {
    private let content: [UInt8]

    init(_ content: [UInt8]) { self.content = content }

    var count: Int { content.count }

    func read(from offset: Int, upTo length: Int) throws(CacheError) -> [UInt8] {
        Array(content.dropFirst(offset).prefix(length))
    }
}

/// Returns bytes in which every part identifies its value and its position.
func patterned(_ seed: Int, count: Int) -> [UInt8] {
    // Repeating a row of 251 bytes is fast even without optimization.
    let row = (0..<251).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed &* 97) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + row.count)
    while bytes.count < count { bytes += row }
    bytes.removeLast(bytes.count - count)
    return bytes
}
