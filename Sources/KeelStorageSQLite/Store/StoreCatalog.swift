#if SQLite
internal import KeelStorage
internal import Synchronization

/// What an adapter remembers of its file: the numbers of collections and the set of indexes.
///
/// Numbers of collections never change once their commit has succeeded, so they are not checked
/// again. The set of indexes is valid for one generation only.
final class StoreCatalog: Sendable {
    private struct State {
        var numbers: [CollectionPath: Int64] = [:]
        var paths: [Int64: CollectionPath] = [:]
        var indexes = IndexSet(generation: -1, all: [])
    }

    private let state = Mutex(State())

    func number(of path: CollectionPath) -> Int64? { state.withLock { $0.numbers[path] } }

    func path(of number: Int64) -> CollectionPath? { state.withLock { $0.paths[number] } }

    func remember(_ path: CollectionPath, as number: Int64) {
        state.withLock { state in
            state.numbers[path] = number
            state.paths[number] = path
        }
    }

    /// The set of indexes of a generation, nil if another one is known.
    func indexes(of generation: Int64) -> IndexSet? {
        state.withLock { $0.indexes.generation == generation ? $0.indexes : nil }
    }

    func remember(_ indexes: IndexSet) { state.withLock { $0.indexes = indexes } }
}
#endif
