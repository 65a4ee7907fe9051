internal import Synchronization

/// The tasks that go on behind a cache's answers.
///
/// A load that refreshes a value runs once for its key, and ends with the load; what hands a change
/// to the tier ends with it. None outlives what it waits for.
final class BackgroundLoads: Sendable {
    private let state = Mutex<Set<UInt64>>([])

    /// How many loads run behind.
    var count: Int { state.withLock { $0.count } }

    /// Runs work behind, unless work of the same name runs already.
    func start(_ name: UInt64, _ work: @escaping @Sendable () async -> Void) {
        guard state.withLock({ $0.insert(name).inserted }) else { return }
        Task {
            await work()
            state.withLock { _ = $0.remove(name) }
        }
    }

    /// Runs work behind.
    func add(_ work: @escaping @Sendable () async -> Void) { Task { await work() } }
}
