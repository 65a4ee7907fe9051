package import KeelDocuments
internal import Synchronization

/// What an adapter remembers of its store: the numbers of collections and the set of indexes.
///
/// Numbers of collections never change once their commit has succeeded, so they are not checked
/// again. The set of indexes is valid for one generation only.
package final class StoreCatalog: Sendable {
    private struct Collections {
        var numbers: [CollectionPath: Int64] = [:]
        var paths: [Int64: CollectionPath] = [:]
    }

    private struct State {
        var recent = Collections()
        /// Those that were met before the recent ones; forgotten when there are as many recent ones again.
        var former = Collections()
        var indexes = IndexSet(generation: -1, all: [])
        var hasKeys = false

        mutating func remember(_ path: CollectionPath, as number: Int64, most: Int) {
            if recent.numbers.count >= most {
                former = recent
                recent = Collections()
            }
            recent.numbers[path] = number
            recent.paths[number] = path
        }
    }

    private let state = Mutex(State())
    private let most: Int

    /// Creates an empty catalog.
    ///
    /// - Parameter most: About half of the number of collections that it remembers.
    package init(most: Int = 10_000) { self.most = max(1, most) }

    /// How many collections are remembered.
    package var count: Int { state.withLock { $0.recent.numbers.count + $0.former.numbers.count } }

    package func number(of path: CollectionPath) -> Int64? {
        state.withLock { state in
            if let number = state.recent.numbers[path] { return number }
            guard let number = state.former.numbers[path] else { return nil }
            state.remember(path, as: number, most: most)
            return number
        }
    }

    package func path(of number: Int64) -> CollectionPath? {
        state.withLock { state in
            if let path = state.recent.paths[number] { return path }
            guard let path = state.former.paths[number] else { return nil }
            state.remember(path, as: number, most: most)
            return path
        }
    }

    package func remember(_ path: CollectionPath, as number: Int64) {
        state.withLock { $0.remember(path, as: number, most: most) }
    }

    /// Whether collections are known to have keys.
    package var knowsKeys: Bool { state.withLock { $0.hasKeys } }

    /// Remembers that collections have keys; once they have, they keep them.
    package func rememberKeys() { state.withLock { $0.hasKeys = true } }

    /// The set of indexes of a generation, nil if another one is known.
    package func indexes(of generation: Int64) -> IndexSet? {
        state.withLock { $0.indexes.generation == generation ? $0.indexes : nil }
    }

    package func remember(_ indexes: IndexSet) { state.withLock { $0.indexes = indexes } }
}
