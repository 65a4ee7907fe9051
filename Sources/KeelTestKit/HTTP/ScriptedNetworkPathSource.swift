public import KeelHTTP
import Synchronization

/// A network whose path a test decides.
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

    /// Creates a source that begins with this path.
    public init(_ path: NetworkPath = NetworkPath(.satisfied)) {
        state = Mutex(State(path: path))
    }

    /// How many observations are going on.
    public var observerCount: Int { state.withLock { $0.observers.count } }

    /// How many observations were begun so far.
    public var observationCount: Int { state.withLock { $0.next } }

    /// Changes the path and tells everybody who observes it.
    public func set(_ path: NetworkPath) {
        state.withLock { state in
            state.path = path
            // Inside the lock: reports must come in their order, and one at a time.
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
