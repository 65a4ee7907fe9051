#if PostgreSQL
internal import Foundation
internal import Synchronization

/// The current lookups of hosts’ names, each on a thread of its own: the system’s resolver blocks, and cannot be
/// stopped.
///
/// Connections share a lookup, so that a resolver that hangs holds one thread for each host.
final class HostLookups: Sendable {
    typealias Parameters = ConnectionSettings.Parameters

    final class Lookup: Sendable {
        private struct State {
            var addresses: [Parameters]?
            var waiting: [WakePipe] = []
        }

        private let state: Mutex<State>

        fileprivate init(_ addresses: [Parameters]? = nil) {
            state = Mutex(State(addresses: addresses))
        }

        /// The host once for each address; empty if the name is unknown, nil during the lookup.
        var addresses: [Parameters]? { state.withLock { $0.addresses } }

        fileprivate func add(_ pipe: WakePipe) { state.withLock { $0.waiting.append(pipe) } }

        fileprivate func end(with addresses: [Parameters]) {
            let waiting = state.withLock { state in
                state.addresses = addresses
                defer { state.waiting = [] }
                return state.waiting
            }
            for pipe in waiting { pipe.wake() }
        }
    }

    private let underWay = Mutex<[Parameters: Lookup]>([:])

    /// Begins the lookup of a host, or joins the current one; without a name, it is over at once.
    ///
    /// The end wakes the thread of the pipe. `resolve` may block.
    func begin(
        _ host: Parameters,
        waking pipe: WakePipe,
        _ resolve: @escaping @Sendable (Parameters) -> [Parameters]
    ) -> Lookup {
        guard ConnectionSettings.name(of: host) != nil else { return Lookup([host]) }
        let (lookup, isNew) = underWay.withLock { underWay -> (Lookup, Bool) in
            if let lookup = underWay[host] { return (lookup, false) }
            let lookup = Lookup()
            underWay[host] = lookup
            return (lookup, true)
        }
        lookup.add(pipe)
        guard isNew else { return lookup }
        let thread = Thread { [self] in
            let addresses = resolve(host)
            // Later calls look the name up again, because its addresses may change.
            underWay.withLock { $0[host] = nil }
            lookup.end(with: addresses)
        }
        thread.name = "keel.postgresql.lookup"
        thread.start()
        return lookup
    }
}
#endif
