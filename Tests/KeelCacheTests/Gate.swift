import Synchronization

/// A way to hold loads until a test lets them go.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var lastTicket: UInt64 = 0
    }

    private let state = Mutex(State())
    private let begun = Counter()
    private let left = Counter()

    /// How many have come to the gate.
    var begunCount: Int { begun.count }
    /// How many were cancelled at the gate.
    var cancelledCount: Int { left.count }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: true) }
    }

    /// Waits until the gate is open.
    func pass() async throws {
        begun.add()
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        let passed = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.isOpen { return true }
                    state.waiting[ticket] = continuation
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume(returning: false)
        }
        guard passed else {
            left.add()
            throw CancellationError()
        }
    }
}

/// Gives way until something holds.
func wait(until condition: @Sendable () -> Bool) async {
    while !condition() { await Task.yield() }
}
