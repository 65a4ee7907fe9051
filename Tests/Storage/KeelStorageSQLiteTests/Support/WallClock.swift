#if SQLite
import KeelStorage
import Synchronization

/// A wall clock that only the test moves.
final class WallClock: Sendable {
    private let time: Mutex<Int64>

    init(_ microseconds: Int64 = 1_780_000_000_000_000) { time = Mutex(microseconds) }

    var now: Timestamp { Timestamp(microseconds: time.withLock { $0 }) }

    func set(_ microseconds: Int64) { time.withLock { $0 = microseconds } }

    func move(by duration: Duration) { time.withLock { $0 += Int64(duration / .microseconds(1)) } }
}
#endif
