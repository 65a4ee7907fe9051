internal import Synchronization

/// The order of a repository's requests, so that no response replaces that of a later request.
///
/// The service may answer two requests in either order. The order remembers kept responses only while an earlier
/// request is under way.
final class FetchOrder: Sendable {
    /// A request, from its start until its response has been kept or dropped.
    final class Request: Sendable {
        fileprivate let number: Int
        private let order: FetchOrder

        fileprivate init(_ number: Int, in order: FetchOrder) {
            self.number = number
            self.order = order
        }

        deinit { order.end(number) }
    }

    private struct State {
        var last = 0
        var underWay: Set<Int> = []
        /// The last request for each entity whose response was kept, and whether the service had none.
        var kept: [String: (request: Int, isMissing: Bool)] = [:]
        /// The last request for all entities whose response was kept.
        var keptList = 0
    }

    private let state = Mutex(State())

    func begin() -> Request {
        let number = state.withLock { state in
            state.last += 1
            state.underWay.insert(state.last)
            return state.last
        }
        return Request(number, in: self)
    }

    /// Notes that the response to a request for an entity was kept, or that the service had no entity.
    func note(_ key: String, of request: Request, isMissing: Bool = false) {
        state.withLock { state in
            // Not every caller has a turn: a later request may have noted its response first.
            if let kept = state.kept[key], kept.request > request.number { return }
            state.kept[key] = (request.number, isMissing)
        }
    }

    func noteList(of request: Request) { state.withLock { $0.keptList = request.number } }

    /// Whether the response to a later request for an entity, or for all, was kept.
    func isOvertaken(_ request: Request, _ key: String) -> Bool {
        state.withLock { state in
            let kept = max(state.keptList, state.kept[key]?.request ?? 0)
            return kept > request.number
        }
    }

    /// Whether the response to a later request for all entities was kept.
    func isOvertaken(_ request: Request) -> Bool {
        state.withLock { $0.keptList > request.number }
    }

    /// The entities that were kept after later requests, and whether the service had none.
    ///
    /// After a later request for all entities, all of `keys` belong to them.
    func keptLater(than request: Request, among keys: [String]) -> [String: Bool] {
        state.withLock { state in
            var later: [String: Bool] = [:]
            if state.keptList > request.number { for key in keys { later[key] = false } }
            for (key, kept) in state.kept where kept.request > request.number {
                later[key] = kept.isMissing
            }
            return later
        }
    }

    private func end(_ number: Int) {
        state.withLock { state in
            state.underWay.remove(number)
            let first = state.underWay.min() ?? .max
            guard first > number, !state.kept.isEmpty else { return }
            state.kept = state.kept.filter { $0.value.request > first }
        }
    }
}
