internal import Synchronization

/// The tasks that continue after a cache has answered.
///
/// A refreshing load runs once per key; a task that hands a change to the tier ends with the
/// change. None outlives the work it waits for.
final class BackgroundLoads: Sendable {
    private let state = Mutex<Set<UInt64>>([])

    var count: Int { state.withLock { $0.count } }

    /// Runs work in the background, unless work of the same name is running.
    func start(_ name: UInt64, _ work: @escaping @Sendable () async -> Void) {
        guard state.withLock({ $0.insert(name).inserted }) else { return }
        Task {
            await work()
            state.withLock { _ = $0.remove(name) }
        }
    }

    func add(_ work: @escaping @Sendable () async -> Void) { Task { await work() } }
}
