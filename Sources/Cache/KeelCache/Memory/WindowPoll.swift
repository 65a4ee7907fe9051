internal import Synchronization

/// The window that suits the load of a table, found by all of its shards together.
///
/// Keys are spread over shards at random, so all shards have the same load, and together need a
/// smaller sample of keys than each would alone.
final class WindowPoll: Sendable {
    let shardCount: Int
    private let votes: Mutex<WindowVotes>

    init(_ limits: CacheLimits, _ shardCount: Int) {
        self.shardCount = shardCount
        // With a cost limit the sample is not known yet.
        let limit = limits.cost == nil ? limits.count ?? 0 : 0
        let span = ShadowCaches.span(limit: limit, shardCount: shardCount)
        votes = Mutex(WindowVotes(span: span))
    }

    /// The index of the window in ``ShadowCaches/windows``.
    var winner: Int { votes.withLock { $0.best } }

    /// Adds a shard's findings, and returns the winner.
    func add(_ ballot: WindowVotes.Ballot) -> Int {
        votes.withLock { votes in
            _ = votes.add(ballot)
            return votes.best
        }
    }
}
