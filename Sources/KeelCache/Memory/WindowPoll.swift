internal import Synchronization

/// The window that suits the load of a table, as all of its shards find out together.
///
/// Keys fall to shards by chance, so that all of them have the same load. Together they need a
/// smaller sample of the keys than each of them alone.
final class WindowPoll: Sendable {
    let shardCount: Int
    private let votes: Mutex<WindowVotes>

    /// - Parameters:
    ///   - limits: Those of the table.
    ///   - shardCount: How many shards it has.
    init(_ limits: CacheLimits, _ shardCount: Int) {
        self.shardCount = shardCount
        // With a limit of cost the sample is not known yet.
        let limit = limits.cost == nil ? limits.count ?? 0 : 0
        let span = ShadowCaches.span(limit: limit, shardCount: shardCount)
        votes = Mutex(WindowVotes(span: span))
    }

    /// The place of the window in ``ShadowCaches/windows``.
    var winner: Int { votes.withLock { $0.best } }

    /// Adds what a shard found, and returns the winner.
    func add(_ ballot: WindowVotes.Ballot) -> Int {
        votes.withLock { votes in
            _ = votes.add(ballot)
            return votes.best
        }
    }
}
