import Synchronization

/// What a layer remembers of each origin, in bounded memory.
package final class OriginTable<Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        var lastUse: UInt64
    }

    private struct State {
        var entries: [HTTPOrigin: Entry] = [:]
        var uses: UInt64 = 0
    }

    private let state = Mutex(State())
    private let limit: Int
    private let initial: Value

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - initial: What an origin begins with.
    ///   - limit: How many origins are remembered, at least 1; with one more, the sixteenth of them
    ///     that was used longest ago is forgotten, at least one.
    package init(_ initial: Value, limit: Int = 1000) {
        self.initial = initial
        self.limit = max(1, limit)
    }

    /// Reads or changes what is remembered of an origin.
    package func with<Result: Sendable>(
        _ origin: HTTPOrigin,
        _ body: (inout Value) -> Result
    ) -> Result {
        state.withLock { state in
            state.uses += 1
            if state.entries.count >= limit, state.entries[origin] == nil { evict(&state) }
            let uses = state.uses
            return { (entry: inout Entry) in
                entry.lastUse = uses
                return body(&entry.value)
            }(&state.entries[origin, default: Entry(value: initial, lastUse: uses)])
        }
    }

    /// Forgets several at once: a search for one would cost each new origin a way through the table.
    private func evict(_ state: inout State) {
        let oldest = state.entries.sorted { $0.value.lastUse < $1.value.lastUse }
        for (origin, _) in oldest.prefix(max(1, limit / 16)) { state.entries[origin] = nil }
    }
}
