import KeelCore
import KeelStorage
import KeelSync
import KeelTestKit
import Synchronization

/// The times of a machine, controlled by a test: the time of day, and the time since its start.
final class Wall: Sendable {
    private struct State {
        var wall: Int64 = 1_700_000_000_000_000
        var uptime: Int64 = 5_000_000
        var boot = 1
    }

    private let state = Mutex(State())

    /// The clock on which the time limits of calls sleep, unless the time has already advanced past them.
    let limits = TestClock()

    var now: Timestamp { Timestamp(microseconds: state.withLock { $0.wall }) }

    /// The time since the machine's start.
    var uptime: Duration { .microseconds(state.withLock { $0.uptime }) }

    /// The identifier of the machine's start.
    var boot: String { "start \(state.withLock { $0.boot })" }

    /// Advances both times.
    func advance(by seconds: Int64) {
        state.withLock { state in
            state.wall += seconds * 1_000_000
            state.uptime += seconds * 1_000_000
        }
    }

    /// Sets the clock; no time passes.
    func leap(by seconds: Int64) { state.withLock { $0.wall += seconds * 1_000_000 } }

    /// Restarts the machine.
    func restart() {
        state.withLock { state in
            state.boot += 1
            state.uptime = 1_000_000
        }
    }
}

/// A clock that shows a machine's time.
///
/// Sleeps of up to a second return immediately. Longer sleeps, which are time limits, last until they are canceled:
/// time passes between the steps of a test, not during them.
struct MachineClock: Clock {
    typealias Instant = TestClock.Instant

    let wall: Wall

    init(_ wall: Wall) { self.wall = wall }

    var now: Instant { Instant(offset: wall.uptime) }

    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        guard deadline.offset - wall.uptime > .seconds(1) else { return }
        try await wall.limits.sleep(until: Instant(offset: .seconds(1 << 40)))
    }
}

extension Outbox.Configuration {
    /// Creates settings with a time controlled by a test.
    init(_ wall: Wall, clock: (any Clock<Duration>)? = nil) {
        self.init()
        self.clock = clock ?? MachineClock(wall)
        now = { wall.now }
        uptime = Uptime(boot: wall.boot) { wall.uptime }
        jitter = { 1 }
        // On this clock, each sleeping task advances the time for all others, and this must not make a lease appear
        // slow.
        if clock is ImmediateClock { leaseMargin = .seconds(10_000_000_000) }
    }
}

extension OutboxWrite {
    /// Returns a minimal write.
    static func note(_ text: String, key: String = "notes/1") -> OutboxWrite {
        OutboxWrite(key: key, kind: "PUT", body: Array(text.utf8), id: text)
    }
}
