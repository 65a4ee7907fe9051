import KeelStorage
import KeelSync
import KeelTestKit
import Synchronization

/// A wall clock that a test sets.
final class Wall: Sendable {
    private let microseconds = Mutex<Int64>(1_700_000_000_000_000)

    var now: Timestamp { Timestamp(microseconds: microseconds.withLock { $0 }) }

    func advance(by seconds: Int64) { microseconds.withLock { $0 += seconds * 1_000_000 } }
}

extension Outbox.Configuration {
    /// Settings whose time a test moves.
    init(_ wall: Wall, clock: any Clock<Duration> = LeapingClock()) {
        self.init()
        self.clock = clock
        now = { wall.now }
        jitter = { 1 }
    }
}

extension OutboxWrite {
    /// A write that says no more than a test needs.
    static func note(_ text: String, key: String = "notes/1") -> OutboxWrite {
        OutboxWrite(key: key, kind: "PUT", body: Array(text.utf8), id: text)
    }
}
