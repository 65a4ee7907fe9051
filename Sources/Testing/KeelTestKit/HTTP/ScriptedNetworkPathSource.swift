internal import KeelHTTP
public import KeelNetworkStatus
import Synchronization

/// A network path source that a test controls.
///
/// ```swift
/// let network = ScriptedNetworkPathSource(NetworkPath(.unsatisfied))
/// let status = NetworkStatus(network)
/// network.set(NetworkPath(.satisfied))
/// ```
public final class ScriptedNetworkPathSource: NetworkPathSource {
    private struct State {
        var path: NetworkPath
        var next = 0
        var observers: [Int: @Sendable (NetworkPath) -> Void] = [:]
    }

    private let state: Mutex<State>

    /// Creates a source with an initial path.
    public init(_ path: NetworkPath = NetworkPath(.satisfied)) {
        state = Mutex(State(path: path))
    }

    /// The number of active observations.
    package var observerCount: Int { state.withLock { $0.observers.count } }

    /// The number of observations begun so far.
    package var observationCount: Int { state.withLock { $0.next } }

    /// Changes the path and notifies the observers, which must not use the source.
    public func set(_ path: NetworkPath) {
        state.withLock { state in
            state.path = path
            // Called inside the lock, because reports must be ordered and must not overlap.
            for report in state.observers.values { report(path) }
        }
    }

    public func observe(
        _ report: @escaping @Sendable (NetworkPath) -> Void
    ) -> @Sendable () -> Void {
        let id = state.withLock { state in
            state.next += 1
            state.observers[state.next] = report
            report(state.path)
            return state.next
        }
        return { [weak self] in _ = self?.state.withLock { $0.observers.removeValue(forKey: id) } }
    }
}
