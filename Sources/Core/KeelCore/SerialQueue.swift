internal import Synchronization

/// A serial queue of asynchronous work, in the order of reservation.
///
/// A turn is reserved without waiting, so that the order can be decided under a lock. Every reserved turn must be begun
/// and ended.
package final class SerialQueue: Sendable {
    private struct State {
        var next = 0
        var serving = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package func reserve() -> Int {
        state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
    }

    /// Waits until all earlier turns have ended.
    package func begin(_ turn: Int) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                if state.serving == turn { return true }
                state.waiting[turn] = continuation
                return false
            }
            if isDue { continuation.resume() }
        }
    }

    package func end() {
        let next = state.withLock { state in
            state.serving += 1
            return state.waiting.removeValue(forKey: state.serving)
        }
        next?.resume()
    }
}
