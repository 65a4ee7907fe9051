import KeelStorage
import KeelStorageAdapting
import Synchronization

/// A store in a process that is killed at a certain call, before or after its effect.
///
/// The underlying store remains for the next process.
final class MortalStorageAdapter: StorageAdapter {
    private struct Life {
        var callsLeft: Int?
        var isDead = false
    }

    private let store: InMemoryStorageAdapter
    private let diesAfterEffect: Bool
    private let life: Mutex<Life>

    init(_ store: InMemoryStorageAdapter, dyingAt call: Int? = nil, afterEffect: Bool = false) {
        self.store = store
        diesAfterEffect = afterEffect
        life = Mutex(Life(callsLeft: call))
    }

    /// Kills the process: later calls have no effect.
    func kill() { life.withLock { $0.isDead = true } }

    var isDead: Bool { life.withLock { $0.isDead } }

    /// Counts a call; returns true for the last one.
    private func breathe() throws(StorageError) -> Bool {
        let (wasDead, isLast) = life.withLock { life in
            let wasDead = life.isDead
            if wasDead { return (true, true) }
            if let left = life.callsLeft {
                life.callsLeft = left - 1
                if left <= 0 { life.isDead = true }
            }
            return (wasDead, life.isDead)
        }
        if wasDead || isLast && !diesAfterEffect { throw death }
        return isLast
    }

    private var death: StorageError {
        StorageError(.unknown, "the process was killed", effect: .unknown)
    }

    var capabilities: StorageCapabilities { store.capabilities }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        let isLast = try breathe()
        try await store.prepare(schema)
        if isLast { throw death }
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        let isLast = try breathe()
        let result = try await store.read(request)
        if isLast { throw death }
        return result
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        let isLast = try breathe()
        let results = try await store.commit(batches)
        if isLast { throw death }
        return results
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let isLast = try breathe()
        let page = try await store.changes(request)
        if isLast { throw death }
        return page
    }
}
