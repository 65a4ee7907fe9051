import KeelCache
import KeelTestKit
import Synchronization
import Testing

/// A tier that was opened for one check, on a clock of its own.
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

    /// The tier; a check may keep it only up to the next ``reopen(after:)``.
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

    /// Opens the tier again, with another limit where one is given.
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

    /// The whole value under a key.
    func value(_ key: String) async throws -> [UInt8]? { try await read(key)?.body.bytes() }

    /// Which of some keys are found.
    func found(_ keys: String...) async throws -> [String] {
        var found: [String] = []
        for key in keys where try await read(key) != nil { found.append(key) }
        return found
    }
}

/// A file of another tier, as a cache hands it on when it copies an entry.
final class ForeignFile: CacheFile {
    private let content: [UInt8]

    init(_ content: [UInt8]) { self.content = content }

    var count: Int { content.count }

    func read(from offset: Int, upTo length: Int) throws(CacheError) -> [UInt8] {
        Array(content.dropFirst(offset).prefix(length))
    }
}

/// Bytes that tell from each piece which value and which place they are of.
func patterned(_ seed: Int, count: Int) -> [UInt8] {
    // A row of 251 bytes, again and again: fast to make without optimisation too.
    let row = (0..<251).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed &* 97) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + row.count)
    while bytes.count < count { bytes += row }
    bytes.removeLast(bytes.count - count)
    return bytes
}
