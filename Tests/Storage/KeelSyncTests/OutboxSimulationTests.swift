import Foundation
import KeelCore
import KeelStorage
import KeelSync
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// Random schedules of outboxes: processes that are killed at any call of the store, servers that lose replies,
/// concurrent runners, and a clock that is set forward and back, even during attempts.
///
/// `KEEL_SCHEDULES` sets the number of schedules, and `KEEL_SEED` the first seed.
@Suite("Simulated outboxes", .timeLimit(.minutes(10)))
struct OutboxSimulationTests {
    private static let schedules = TestLength.count("KEEL_SCHEDULES", 100 as UInt64, thorough: 400)
    private static let seed = SeededRandom.chosenSeed()
    private static let parts: UInt64 = TestLength.count(2, thorough: 8)

    @Test(
        "Each write is applied once, in order per key, with its local change",
        arguments: 0..<parts
    )
    func keepsPromises(part: UInt64) async throws {
        let count = (Self.schedules + Self.parts - 1) / Self.parts
        print("outboxes from seed \(Self.seed &+ part &* count) on, \(count) schedules")
        var kills = 0
        var repetitions = 0
        for number in 0..<count {
            let seed = Self.seed &+ part &* count &+ number
            let life = OutboxLife(seed: seed)
            let failure = try await life.run()
            kills += life.killCount
            repetitions += life.server.deliveries.count - life.server.applied.count
            guard failure == nil else { return fail("seed \(seed): \(failure ?? "")") }
        }
        // Schedules without failures would prove nothing.
        #expect(kills > Int(count), "only \(kills) kills in \(count) schedules")
        #expect(repetitions > Int(count), "only \(repetitions) repetitions")
    }
}

/// The random decisions of a schedule.
private final class Dice: Sendable {
    private let random: Mutex<SeededRandom>
    private let isHealed = Mutex(false)
    private let rate: Double
    let mayRefuse: Bool

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        rate = Double.random(in: 0...0.7, using: &random)
        mayRefuse = Bool.random(using: &random)
        self.random = Mutex(random)
    }

    func number(_ range: ClosedRange<Int>) -> Int {
        random.withLock { Int.random(in: range, using: &$0) }
    }

    /// Returns the number of seconds by which to set the clock; nil to leave it.
    func leap() -> Int64? {
        guard number(0...3) == 0 else { return nil }
        return Int64(number(-7_200...7_200))
    }

    func heal() { isHealed.withLock { $0 = true } }

    func fate() -> RecordingServer.Fate {
        if isHealed.withLock({ $0 }) { return .taken }
        let isFaulty = random.withLock { Double.random(in: 0...1, using: &$0) } < rate
        guard isFaulty else { return .taken }
        switch number(0...5) {
        case 0, 1: return .replyLost
        case 2: return .failed(after: nil)
        case 3: return .failed(after: .seconds(50))
        case 4: return .unreachable
        default: return mayRefuse ? .refused : .replyLost
        }
    }
}

/// The execution of a schedule.
private final class OutboxLife: Sendable {
    private struct State {
        var killCount = 0
        /// The ids of the writes of each key, in the order in which they were enqueued.
        var order: [String: [String]] = [:]
        var nextNumber = 0
    }

    private let wall = Wall()
    private let store: InMemoryStorageAdapter
    private let dice: Dice
    private let state = Mutex(State())
    let server: RecordingServer

    init(seed: UInt64) {
        let wall = wall
        let dice = Dice(seed: seed)
        self.dice = dice
        store = InMemoryStorageAdapter(now: { wall.now })
        server = RecordingServer { _ in
            // The next access to a lease sees another time of day.
            if let leap = dice.leap() { wall.leap(by: leap) }
            return dice.fate()
        }
    }

    var killCount: Int { state.withLock { $0.killCount } }

    /// Runs the schedule and returns a description of a violation; nil if there is none.
    func run() async throws -> String? {
        for _ in 0..<dice.number(5...20) {
            switch dice.number(0...5) {
            case 0, 1, 2: try await putIn()
            case 3: await withProcess { _ = try await $0.flush(sending: self.server) }
            case 4:
                // Two concurrent processes.
                async let one: Void = withProcess { _ = try await $0.flush(sending: self.server) }
                async let other: Void = withProcess { _ = try await $0.flush(sending: self.server) }
                _ = await (one, other)
            default:
                wall.advance(by: Int64(dice.number(1...200)))
                if let leap = dice.leap() { wall.leap(by: leap) }
            }
        }
        dice.heal()
        let outbox = makeOutbox(MortalStorageAdapter(store))
        for entry in try await outbox.rejected() { try await outbox.retry(entry.id) }
        var rounds = 0
        while try await !outbox.flush(sending: server) {
            rounds += 1
            guard rounds < 20 else { return "the outbox does not become empty" }
            wall.advance(by: 400)
        }
        return try await verdict()
    }

    private func makeOutbox(_ adapter: MortalStorageAdapter) -> Outbox {
        var configuration = Outbox.Configuration(wall)
        configuration.concurrency = 2
        configuration.retry.attempts = 1_000
        return Outbox(StorageClient(adapter), configuration: configuration)
    }

    /// Runs a body in a process, which may be killed at any call of its store.
    private func withProcess(_ body: (Outbox) async throws -> Void) async {
        let isKilled = dice.number(0...2) > 0
        let adapter = MortalStorageAdapter(
            store,
            dyingAt: isKilled ? dice.number(0...14) : nil,
            afterEffect: dice.number(0...1) == 0
        )
        // Errors of a killed process have no observer.
        try? await body(makeOutbox(adapter))
        if adapter.isDead { state.withLock { $0.killCount += 1 } }
    }

    /// Enqueues writes, each with a change of the app's documents, and repeats failed ones like a user.
    private func putIn() async throws {
        for _ in 0..<dice.number(1...4) {
            let key = "key \(dice.number(0...2))"
            let number = state.withLock { state in
                state.nextNumber += 1
                return state.nextNumber
            }
            let write = OutboxWrite.note("write \(number)", key: key)
            await withProcess { outbox in
                try await outbox.enqueue(write) { batch in
                    try batch.set("things/\(number)", ["key": .string(key)])
                }
            }
            // Only the store shows whether the write was enqueued before the process was killed.
            let client = StorageClient(store)
            guard try await client.findDocument("things/\(number)") != nil else { continue }
            state.withLock { $0.order[key, default: []].append(write.id) }
        }
    }

    private func verdict() async throws -> String? {
        let order = state.withLock { $0.order }
        let applied = server.applied
        if server.overlaps > 0 { return "two writes of one key were under way at once" }
        let ids = applied.map(\.write.id)
        if Set(ids).count != ids.count { return "a write was applied twice: \(ids)" }
        let expected = Set(order.values.joined())
        if Set(ids) != expected { return "applied \(ids.sorted()), put in \(expected.sorted())" }
        guard !dice.mayRefuse else { return nil }
        for (key, wanted) in order {
            let met = applied.filter { $0.write.key == key }.map(\.write.id)
            if met != wanted { return "\(key) was applied as \(met), put in as \(wanted)" }
        }
        return nil
    }
}
