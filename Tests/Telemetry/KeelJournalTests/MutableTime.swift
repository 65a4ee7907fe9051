import Synchronization

/// A time in microseconds, set by a test.
final class MutableTime: Sendable {
    private let value: Mutex<Int64>

    init(_ start: Int64) { value = Mutex(start) }

    var now: Int64 { value.withLock { $0 } }

    func advance(by microseconds: Int64) { value.withLock { $0 += microseconds } }
}
