import Synchronization

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
