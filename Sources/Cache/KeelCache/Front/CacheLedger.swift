internal import Synchronization

@usableFromInline
final class CacheLedger<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var statistics = CacheStatistics()
        var listeners: [UInt64: AsyncStream<CacheEvent<Key>>.Continuation] = [:]
        var lastListener: UInt64 = 0
    }

    private let state = Mutex(State())
    private let listens = Atomic<Bool>(false)

    deinit {
        for listener in state.withLock({ $0.listeners }).values { listener.finish() }
    }

    var statistics: CacheStatistics { state.withLock { $0.statistics } }

    @usableFromInline var hasListeners: Bool { listens.load(ordering: .relaxed) }

    func count(_ step: (inout CacheStatistics) -> Void) {
        state.withLock { step(&$0.statistics) }
    }

    func tell(_ key: Key?, _ reason: CacheEvent<Key>.Reason) {
        guard hasListeners else { return }
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield(CacheEvent(key: key, reason: reason)) }
    }

    func failed(_ error: CacheError, _ key: Key? = nil) {
        count { $0.tierFailures += 1 }
        tell(key, .failed(error))
    }

    func events(keeping limit: Int) -> CacheEvents<Key> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CacheEvent<Key>.self,
            bufferingPolicy: .bufferingNewest(max(1, limit))
        )
        let id = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            listens.store(true, ordering: .relaxed)
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in self?.forget(id) }
        return CacheEvents(stream: stream)
    }

    private func forget(_ id: UInt64) {
        let listener = state.withLock { state in
            let listener = state.listeners.removeValue(forKey: id)
            listens.store(!state.listeners.isEmpty, ordering: .relaxed)
            return listener
        }
        _ = listener
    }
}
