internal import Synchronization

/// A FIFO queue that admits one task at a time.
package final class TaskQueue: Sendable {
    private struct State {
        var isTaken = false
        var nextTicket: UInt64 = 0
        /// The waiting tasks by ticket, in ascending order.
        var tickets: [UInt64] = []
        var first = 0
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]

        mutating func next() -> CheckedContinuation<Bool, Never>? {
            defer {
                // Compacting rarely moves each ticket about once.
                if first * 2 >= tickets.count {
                    tickets.removeFirst(first)
                    first = 0
                }
            }
            while first < tickets.count {
                let waiter = waiting.removeValue(forKey: tickets[first])
                first += 1
                if let waiter { return waiter }
            }
            return nil
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Waits until the task is admitted.
    ///
    /// - Returns: Whether the task was admitted, and has to call ``leave()``; false if it was canceled first.
    package func enter() async -> Bool {
        if Task.isCancelled { return false }
        let ticket = state.withLock { state -> UInt64? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.nextTicket += 1
            return state.nextTicket
        }
        guard let ticket else { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIn = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    guard state.isTaken else {
                        state.isTaken = true
                        return true
                    }
                    state.tickets.append(ticket)
                    state.waiting[ticket] = continuation
                    return nil
                }
                if let isIn { continuation.resume(returning: isIn) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume(returning: false)
        }
    }

    package func leave() {
        let next = state.withLock { state in
            let next = state.next()
            state.isTaken = next != nil
            return next
        }
        next?.resume(returning: true)
    }

    /// The number of waiting tasks.
    package var count: Int { state.withLock { $0.waiting.count } }
}
