internal import Synchronization

/// The calls of a double that records; its copies share one memory.
final class CallMemory<Call: Sendable>: Sendable {
    private let calls = Mutex<[Call]>([])

    var all: [Call] { calls.withLock { $0 } }

    func add(_ call: Call) { calls.withLock { $0.append(call) } }

    func forget() { calls.withLock { $0 = [] } }
}
