#if PostgreSQL
internal import Synchronization

/// The hosts and addresses to try last: they did not answer soon at the last attempt, or their names were unknown.
final class SilentHosts: Sendable {
    typealias Parameters = ConnectionSettings.Parameters

    private let silent = Mutex<Set<Parameters>>([])

    func ordered(_ hosts: [Parameters]) -> [Parameters] {
        let silent = silent.withLock { $0 }
        return hosts.filter { !silent.contains($0) } + hosts.filter { silent.contains($0) }
    }

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
