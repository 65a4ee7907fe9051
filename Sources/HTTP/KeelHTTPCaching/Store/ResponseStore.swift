import HTTPTypes
import KeelCache
import KeelHTTP
import Synchronization

/// The responses in a tier: lists of responses by address, and their bodies.
///
/// Hides all failures of the tier: unreadable entries are missing, unwritable ones are not stored,
/// and the statistics count both.
final class ResponseStore: Sendable {
    let tier: any CacheTier
    let clock: CacheClock
    let counts: StatisticsCounter
    private let retention: Duration
    private let variantLimit: Int
    private let makeID: @Sendable () -> UInt64
    private let queue = KeyedSerialQueue()
    /// Recently read lists; each is used only with the bytes that it was decoded from.
    let lists = Cache<[UInt8], DecodedList>(
        CacheConfiguration(limits: .cost(1 << 20)),
        cost: { $0.bytes.count }
    )
    let state = Mutex(State())

    struct DecodedList: Sendable {
        let bytes: [UInt8]
        let responses: [StoredResponse]
    }

    struct State: Sendable {
        var log = InvalidationLog()
        /// Tags whose removal failed; their entries still exist and must not be used.
        var pending: Set<String> = []
        var isEverythingPending = false

        var isRemovalPending: Bool { isEverythingPending || !pending.isEmpty }
    }

    init(_ configuration: HTTPCache.Configuration, tier: any CacheTier, clock: CacheClock) {
        self.tier = tier
        self.clock = clock
        counts = StatisticsCounter()
        retention = configuration.retention
        variantLimit = max(1, configuration.variantLimit)
        makeID = configuration.randomness
    }

    /// The current position in the order of invalidations, to pass when a response is stored.
    var mark: InvalidationLog.Mark { state.withLock { $0.log.mark } }

    // MARK: Reading

    func responses(at key: StorageKey) async -> [StoredResponse] {
        guard await isUsable([key.tag]), let record = await read(key.list) else { return [] }
        do throws(CacheError) {
            let responses = decoded(try record.body.bytes(), at: key)
            return await isUsable(tags(of: responses, at: key)) ? responses : []
        } catch {
            counts.add(\.tierFailures)
            return []
        }
    }

    private func decoded(_ bytes: [UInt8], at key: StorageKey) -> [StoredResponse] {
        // Decoding the fields of a list would take most of the time of a hit.
        if let known = lists.peek(key.list), known.bytes == bytes { return known.responses }
        let responses = StoredResponseCoding.decode(bytes) ?? []
        lists.setSynchronously(DecodedList(bytes: bytes, responses: responses), for: key.list)
        return responses
    }

    func body(of response: StoredResponse) async -> CacheBody? {
        if response.length == 0 { return .bytes([]) }
        guard let body = await read(StorageKey.body(response.body))?.body,
            body.count == response.length
        else { return nil }
        return body
    }

    private func read(_ key: [UInt8]) async -> CacheRecord? {
        do throws(CacheError) {
            return try await tier.read(key)
        } catch {
            counts.add(\.tierFailures)
            return nil
        }
    }

    // MARK: Writing

    func makeFile() async -> (any CacheFileWriter)? {
        do throws(CacheError) {
            return try await tier.makeFile()
        } catch {
            counts.add(\.tierFailures)
            return nil
        }
    }

    func makeBodyID() -> StoredResponse.BodyID {
        StoredResponse.BodyID(high: makeID(), low: makeID())
    }

    /// Stores a response in place of those selected by the same fields.
    ///
    /// Stores nothing if it was invalidated since `mark`, when it was requested, or if a response that was requested
    /// later was stored while its body arrived.
    func save(
        _ response: StoredResponse,
        _ body: CacheBody,
        at key: StorageKey,
        since mark: InvalidationLog.Mark,
        lifetime: Int64
    ) async {
        let tags = tags(of: [response], at: key)
        guard await isUsable(tags), !isInvalidated(tags, since: mark) else { return }
        let expires = expiry(lifetime)
        if response.length > 0 {
            let record = CacheRecord(
                key: StorageKey.body(response.body),
                body: body,
                created: clock.now,
                expires: expires,
                tags: tags
            )
            guard await write(record) else { return }
        }
        await queue.run(key.list) {
            let old = await responses(at: key)
            guard !old.contains(where: { isLater($0, than: response) }) else {
                await remove(bodies: [response.body])
                return
            }
            var kept = old.filter { !replaces(response, $0) }
            kept.sort { $0.received < $1.received }
            kept.removeFirst(max(0, kept.count + 1 - variantLimit))
            kept.append(response)
            guard await write(kept, at: key, expires: expires) else { return }
            let names = Set(kept.map(\.body))
            await remove(bodies: old.map(\.body).filter { !names.contains($0) })
            counts.add(\.storedResponses)
            // The resource may have been changed while the entry was being written.
            if isInvalidated(tags, since: mark) { await remove(.keys([key.list])) }
        }
    }

    func update(
        _ response: StoredResponse,
        at key: StorageKey,
        since mark: InvalidationLog.Mark,
        lifetime: Int64
    ) async {
        let tags = tags(of: [response], at: key)
        guard await isUsable(tags), !isInvalidated(tags, since: mark) else { return }
        await queue.run(key.list) {
            var stored = await responses(at: key)
            guard let index = stored.firstIndex(where: { $0.body == response.body }) else { return }
            stored[index] = response
            _ = await write(stored, at: key, expires: expiry(lifetime))
            if isInvalidated(tags, since: mark) { await remove(.keys([key.list])) }
        }
    }

    func drop(_ response: StoredResponse, at key: StorageKey) async {
        await queue.run(key.list) {
            let kept = await responses(at: key).filter { $0.body != response.body }
            if kept.isEmpty {
                await remove(.keys([key.list]))
            } else {
                _ = await write(kept, at: key, expires: expiry(0))
            }
            await remove(bodies: [response.body])
        }
    }

    private func replaces(_ new: StoredResponse, _ old: StoredResponse) -> Bool {
        // A part does not replace the whole.
        old.selectors == new.selectors && (new.part == nil || old.part != nil)
    }

    /// Returns whether a stored response was requested after one that would replace it had been received.
    ///
    /// Of two requests under way at the same time, either may have the later state.
    private func isLater(_ old: StoredResponse, than new: StoredResponse) -> Bool {
        // Of a clock that has been set back since, a time says nothing.
        guard replaces(new, old), old.requested > new.received, old.received <= clock.now else {
            return false
        }
        return new.part != nil || old.part == nil
    }

    private func expiry(_ lifetime: Int64) -> CacheInstant {
        clock.now.advanced(bySeconds: retention / .seconds(1) + Double(lifetime))
    }

    private func tags(of responses: [StoredResponse], at key: StorageKey) -> [String] {
        let groups = Set(responses.flatMap(\.groups)).sorted()
        return [key.tag] + groups.map { StorageKey.tag(of: $0, at: key.origin) }
    }

    private func write(
        _ responses: [StoredResponse],
        at key: StorageKey,
        expires: CacheInstant
    ) async -> Bool {
        await write(
            CacheRecord(
                key: key.list,
                body: .bytes(StoredResponseCoding.encode(responses)),
                created: clock.now,
                expires: expires,
                tags: tags(of: responses, at: key)
            )
        )
    }

    private func write(_ record: CacheRecord) async -> Bool {
        do throws(CacheError) {
            try await tier.write([record])
            return true
        } catch {
            counts.add(\.tierFailures)
            return false
        }
    }
}

/// The recent invalidations in order, so that no response requested before one is stored after it.
struct InvalidationLog: Sendable {
    struct Mark: Hashable, Sendable {
        fileprivate let step: UInt64
    }

    private static let limit = 1000

    private var step: UInt64 = 0
    private var last: [String: UInt64] = [:]
    /// Everything requested before this step counts as invalidated.
    private var floor: UInt64 = 0

    var mark: Mark { Mark(step: step) }

    mutating func add(_ tags: [String]) {
        step += 1
        if last.count + tags.count > Self.limit {
            last = [:]
            floor = step
        }
        for tag in tags { last[tag] = step }
    }

    mutating func addEverything() {
        step += 1
        last = [:]
        floor = step
    }

    func concerns(_ tags: [String], since mark: Mark) -> Bool {
        floor > mark.step || tags.contains { (last[$0] ?? 0) > mark.step }
    }
}

/// A keyed serial queue: operations with the same key run one after the other.
final class KeyedSerialQueue: Sendable {
    private let waiting = Mutex<[[UInt8]: [CheckedContinuation<Void, Never>]]>([:])

    /// Runs an operation when no other one runs with the same key.
    ///
    /// The operation must not wait for another operation with its key.
    func run<Value: Sendable>(_ key: [UInt8], _ operation: () async -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[key] != nil else {
                    waiting[key] = []
                    return true
                }
                waiting[key]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        let value = await operation()
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard waiting[key]?.isEmpty == false else {
                waiting[key] = nil
                return nil
            }
            return waiting[key]?.removeFirst()
        }
        next?.resume()
        return value
    }
}
