#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import NIOCore
import Synchronization

/// The event loops of one origin, and how many exchanges each of them has under way.
///
/// While there are few, one loop has them all, and the connections are opened there: no response
/// changes threads on its way. Each further few take another loop, as long as there may be
/// connections for them; an exchange that only waits for a connection gains nothing by it. Nor does
/// one over HTTP/2, where all share one connection.
///
/// Half of the loops are left out: the tasks that the responses are for need processors, too. With
/// two processors, an origin therefore has one loop.
final class OriginLoops: Sendable {
    /// An exchange on a loop.
    struct Place: Sendable {
        let eventLoop: any EventLoop
        fileprivate let index: Int
        fileprivate let loops: OriginLoops

        /// Takes note that the exchange is over.
        ///
        /// - Parameter isMultiplexed: Whether its connection carries several exchanges at once; nil
        ///   if it had none.
        func leave(isMultiplexed: Bool?) { loops.leave(index, isMultiplexed: isMultiplexed) }
    }

    fileprivate struct State {
        var busy: [Int]
        /// Whether one connection, and so one loop, has all exchanges.
        var isMultiplexed = false
    }

    /// With so many exchanges under way, a loop is busy enough for another one to take the next.
    static let few = 8

    private let loops: [any EventLoop]
    private let state: Mutex<State>

    /// Creates a table of loops.
    ///
    /// - Parameters:
    ///   - all: The loops there are.
    ///   - first: The place of the one that is used first.
    ///   - connections: How many connections with the origin are kept in use at once.
    init(_ all: [any EventLoop], from first: Int, connections: Int) {
        let count = max(1, min(all.count / 2, connections / Self.few))
        loops = (0..<count).map { all[(first + $0) % all.count] }
        state = Mutex(State(busy: Array(repeating: 0, count: count)))
    }

    /// Takes note of a new exchange, and finds a loop for it.
    func enter() -> Place {
        guard loops.count > 1 else { return Place(eventLoop: loops[0], index: 0, loops: self) }
        let index = state.withLock { state in
            let index = state.isMultiplexed ? 0 : state.next
            state.busy[index] += 1
            return index
        }
        return Place(eventLoop: loops[index], index: index, loops: self)
    }

    private func leave(_ index: Int, isMultiplexed: Bool?) {
        guard loops.count > 1 else { return }
        state.withLock { state in
            state.busy[index] -= 1
            if let isMultiplexed { state.isMultiplexed = isMultiplexed }
        }
    }
}

extension OriginLoops.State {
    /// The first loop with room, or the one that has the least to do.
    fileprivate var next: Int {
        if let free = busy.firstIndex(where: { $0 < OriginLoops.few }) { return free }
        return busy.indices.min { busy[$0] < busy[$1] } ?? 0
    }
}
#endif
