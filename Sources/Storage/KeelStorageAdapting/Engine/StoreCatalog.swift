package import KeelDocuments
internal import Synchronization

/// A cache of a store's collection numbers and its set of indexes.
///
/// Both are valid for one generation of the store: a new one begins when indexes change or a collection is removed. A
/// number never belongs to another path.
package final class StoreCatalog: Sendable {
    private struct Collections {
        var numbers: [CollectionPath: Int64] = [:]
        var paths: [Int64: CollectionPath] = [:]
    }

    private struct State {
        var generation: Int64 = 0
        var recent = Collections()
        /// The collections used before the recent ones, discarded when there are as many recent ones again.
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

    /// Creates an empty catalog; `most` is about half of the maximum number of cached collections.
    package init(most: Int = 10_000) { self.most = max(1, most) }

    package var count: Int { state.withLock { $0.recent.numbers.count + $0.former.numbers.count } }

    package func number(of path: CollectionPath, in generation: Int64? = nil) -> Int64? {
        state.withLock { state in
            guard generation == nil || generation == state.generation else { return nil }
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

    /// Caches the number that a collection has in a generation, unless a later generation is known.
    ///
    /// A store that removes no collections has one generation only.
    package func remember(_ path: CollectionPath, as number: Int64, in generation: Int64 = 0) {
        state.withLock { state in
            if generation > state.generation {
                (state.recent, state.former) = (Collections(), Collections())
                state.generation = generation
            }
            guard generation == state.generation else { return }
            state.remember(path, as: number, most: most)
        }
    }

    package var knowsKeys: Bool { state.withLock { $0.hasKeys } }

    package func rememberKeys() { state.withLock { $0.hasKeys = true } }

    package func indexes(of generation: Int64) -> IndexSet? {
        state.withLock { $0.indexes.generation == generation ? $0.indexes : nil }
    }

    /// The set of indexes that was cached last, which may be outdated.
    package var latestIndexes: IndexSet? {
        state.withLock { $0.indexes.generation < 0 ? nil : $0.indexes }
    }

    package func remember(_ indexes: IndexSet) { state.withLock { $0.indexes = indexes } }
}
