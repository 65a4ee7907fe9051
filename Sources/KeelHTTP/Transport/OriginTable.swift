import Synchronization

/// What a layer remembers of each origin, in bounded memory.
package final class OriginTable<Value: Sendable>: Sendable {
    private let values = Mutex<[HTTPOrigin: Value]>([:])
    private let limit: Int
    private let initial: Value

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - initial: What an origin begins with.
    ///   - limit: How many origins are remembered; with one more, all are forgotten.
    package init(_ initial: Value, limit: Int = 1000) {
        self.initial = initial
        self.limit = limit
    }

    /// Reads or changes what is remembered of an origin.
    package func with<Result: Sendable>(
        _ origin: HTTPOrigin,
        _ body: (inout Value) -> Result
    ) -> Result {
        values.withLock { values in
            if values.count >= limit, values[origin] == nil { values.removeAll() }
            return body(&values[origin, default: initial])
        }
    }
}
