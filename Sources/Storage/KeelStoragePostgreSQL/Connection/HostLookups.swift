#if PostgreSQL
internal import Foundation
internal import Synchronization

/// The lookups of hosts’ names that are under way, each on a thread of its own: the system’s resolver blocks, and
/// cannot be stopped.
///
/// Connections with the same settings share a lookup, so that a resolver that hangs holds one thread for each host.
final class HostLookups: Sendable {
    typealias Parameters = ConnectionSettings.Parameters

    /// The lookup of one host.
    final class Lookup: Sendable {
        private struct State {
            var addresses: [Parameters]?
            var waiting: [WakePipe] = []
        }

        private let state: Mutex<State>

        fileprivate init(_ addresses: [Parameters]? = nil) {
            state = Mutex(State(addresses: addresses))
        }

        /// The host once for each address; nothing if the name is unknown, nil as long as the lookup lasts.
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

    /// Begins the lookup of a host, or joins the one that is under way; it is over at once if the host has no name.
    ///
    /// The thread of the pipe is woken at the end. `resolve` returns the addresses of a host, and may block.
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
