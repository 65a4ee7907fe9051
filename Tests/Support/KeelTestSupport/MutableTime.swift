internal import KeelCore
internal import Synchronization

/// A time in microseconds, set by a test.
package final class MutableTime: Sendable {
    private let value: Mutex<Int64>

    package init(_ start: Int64) { value = Mutex(start) }

    package var now: Int64 { value.withLock { $0 } }

    package func advance(by microseconds: Int64) { value.withLock { $0 += microseconds } }

    package func advance(by duration: Duration) { advance(by: duration.microseconds) }
}
