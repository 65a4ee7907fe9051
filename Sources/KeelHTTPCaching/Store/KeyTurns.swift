import Synchronization

/// Lets those who change the same thing do so one after the other.
final class KeyTurns: Sendable {
    private let waiting = Mutex<[[UInt8]: [CheckedContinuation<Void, Never>]]>([:])

    /// Runs an operation when nobody else runs one under the same key.
    ///
    /// The operation must not take another turn of its key, nor wait for anybody who might.
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
