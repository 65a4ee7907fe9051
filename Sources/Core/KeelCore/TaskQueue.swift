internal import Synchronization

/// A FIFO queue that admits a limited number of tasks at a time, usually one.
package final class TaskQueue: Sendable {
    private struct State {
        var free: Int
        var nextTicket: UInt64 = 0
        /// The waiting tasks by ticket, in ascending order.
        var tickets: [UInt64] = []
        var first = 0
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]

        init(free: Int) { self.free = free }

        mutating func takesPlace() -> Bool {
            guard free > 0 else { return false }
            free -= 1
            return true
        }

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

    private let state: Mutex<State>

    package init(admitting count: Int = 1) { state = Mutex(State(free: max(1, count))) }

    /// Waits until the task is admitted; returns false if it was canceled first, and otherwise has to be balanced by
    /// ``leave()``.
    package func enter() async -> Bool {
        if Task.isCancelled { return false }
        let ticket = state.withLock { state -> UInt64? in
            if state.takesPlace() { return nil }
            state.nextTicket += 1
            return state.nextTicket
        }
        guard let ticket else { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIn = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.takesPlace() { return true }
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
            if next == nil { state.free += 1 }
            return next
        }
        next?.resume(returning: true)
    }

    package var count: Int { state.withLock { $0.waiting.count } }
}
