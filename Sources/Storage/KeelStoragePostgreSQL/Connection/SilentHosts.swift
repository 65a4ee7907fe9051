#if PostgreSQL
internal import Synchronization

/// The hosts and addresses that are tried last.
///
/// They did not answer soon when a connection was last tried, or their names were unknown.
final class SilentHosts: Sendable {
    typealias Parameters = ConnectionSettings.Parameters

    private let silent = Mutex<Set<Parameters>>([])

    /// Returns hosts in the order in which to try them.
    func ordered(_ hosts: [Parameters]) -> [Parameters] {
        let silent = silent.withLock { $0 }
        return hosts.filter { !silent.contains($0) } + hosts.filter { silent.contains($0) }
    }

    /// Records that hosts did not answer.
    func insert(_ hosts: Parameters...) {
        silent.withLock { silent in
            silent.formUnion(hosts)
            // The addresses of a name may change again and again.
            if silent.count > 100 { silent = [] }
        }
    }

    /// Records that hosts answered, whether or not they can be used.
    func remove(_ hosts: Parameters...) {
        silent.withLock { $0.subtract(hosts) }
    }
}
#endif
