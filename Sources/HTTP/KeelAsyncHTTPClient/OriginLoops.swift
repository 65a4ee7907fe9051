#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import NIOCore
import Synchronization

/// The event loops of one origin, with the number of exchanges on each.
///
/// While there are few exchanges, all use one loop, on which the connections are opened, so that no response changes
/// threads. Every few more use another loop, as long as there may be connections for them; over HTTP/2, all share a
/// connection. Half of the loops are left out, because the tasks that handle the responses need processors as well.
final class OriginLoops: Sendable {
    struct Place: Sendable {
        let eventLoop: any EventLoop
        fileprivate let index: Int
        fileprivate let loops: OriginLoops

        func leave(isMultiplexed: Bool?) { loops.leave(index, isMultiplexed: isMultiplexed) }
    }

    fileprivate struct State {
        var busy: [Int]
        /// Whether one connection, and therefore one loop, has all exchanges.
        var isMultiplexed = false
    }

    /// The number of exchanges at which a loop is busy enough for another one to take the next.
    static let few = 8

    private let loops: [any EventLoop]
    private let state: Mutex<State>

    /// Assigns loops to an origin, from index `first` on, for a number of concurrent connections.
    init(_ all: [any EventLoop], from first: Int, connections: Int) {
        let count = max(1, min(all.count / 2, connections / Self.few))
        loops = (0..<count).map { all[(first + $0) % all.count] }
        state = Mutex(State(busy: Array(repeating: 0, count: count)))
    }

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
    fileprivate var next: Int {
        if let free = busy.firstIndex(where: { $0 < OriginLoops.few }) { return free }
        return busy.indices.min { busy[$0] < busy[$1] } ?? 0
    }
}
#endif
