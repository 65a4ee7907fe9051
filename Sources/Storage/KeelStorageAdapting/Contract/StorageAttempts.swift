internal import Synchronization

/// The attempts of a call, or the calls of a transaction or a long result, in which an adapter remembers for whom it
/// made the first one.
package final class StorageAttempts: Sendable {
    private let memory = Mutex<(any Sendable)?>(nil)

    package init() {}

    /// Returns the value that the first attempt made.
    package func remembered<Value: Sendable>(_ make: () -> Value) -> Value {
        memory.withLock { memory in
            if let value = memory as? Value { return value }
            let value = make()
            memory = value
            return value
        }
    }
}
