#if PostgreSQL
internal import Synchronization

/// The hosts and addresses that did not answer when a connection was last tried.
///
/// Each attempt to connect to a host without power takes up to the whole time limit. So the others are tried first, and
/// for a while such a host gets less time, because meanwhile one of the others may be promoted.
final class SilentHosts: Sendable {
    typealias Parameters = ConnectionSettings.Parameters

    /// How long a host gets less time after it did not answer.
    private static let memory = Duration.seconds(30)

    /// When each of them was found silent by an attempt with the whole time limit.
    private let silences = Mutex<[Parameters: ContinuousClock.Instant]>([:])

    /// Returns hosts in the order in which to try them.
    func ordered(_ hosts: [Parameters]) -> [Parameters] {
        let silences = silences.withLock { $0 }
        return hosts.filter { silences[$0] == nil } + hosts.filter { silences[$0] != nil }
    }

    /// Returns how long to wait for a host, from the usual time limit.
    func limit(of host: Parameters, from limit: Duration) -> Duration {
        silences.withLock { Self.isRecent($0[host]) ? limit / 10 : limit }
    }

    /// Records that hosts did not answer.
    func insert(_ hosts: Parameters...) {
        silences.withLock { silences in
            for host in hosts where !Self.isRecent(silences[host]) {
                silences[host] = ContinuousClock.now
            }
            // The addresses of a name may change again and again.
            if silences.count > 100 { silences = [:] }
        }
    }

    /// Records that hosts answered, whether or not they can be used.
    func remove(_ hosts: Parameters...) {
        silences.withLock { silences in
            for host in hosts { silences[host] = nil }
        }
    }

    private static func isRecent(_ silence: ContinuousClock.Instant?) -> Bool {
        silence.map { ContinuousClock.now - $0 < memory } ?? false
    }
}
#endif
