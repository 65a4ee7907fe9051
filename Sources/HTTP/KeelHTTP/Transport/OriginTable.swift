import Synchronization

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

    /// Creates a table of at most `limit` origins, and at least 1.
    ///
    /// A further origin evicts the least recently used sixteenth, and at least one.
    package init(_ initial: Value, limit: Int = 1000) {
        self.initial = initial
        self.limit = max(1, limit)
    }

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

    /// Evicts several origins at once; otherwise each new origin would cost a pass over the table.
    private func evict(_ state: inout State) {
        let oldest = state.entries.sorted { $0.value.lastUse < $1.value.lastUse }
        for (origin, _) in oldest.prefix(max(1, limit / 16)) { state.entries[origin] = nil }
    }
}
