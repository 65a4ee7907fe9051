internal import Synchronization

/// The window sizes' recent hits, and the winner among them.
struct WindowVotes: Sendable {
    struct Ballot: Sendable {
        /// The number of keys requested.
        var length: Int
        var misses: [Int]
    }

    /// The index of the winner in ``ShadowCaches/windows``.
    private(set) var best = 0
    /// The hits of each shadow, decayed by each epoch.
    private var hits = [Double](repeating: 0, count: ShadowCaches.windows.count)
    private let kept: Double

    /// Creates votes that lose a twentieth per epoch, or less by the factor `span`.
    init(span: Int = 1) { kept = 1 - 0.05 / Double(span) }

    mutating func add(_ ballot: Ballot) -> Bool {
        for (shadow, misses) in ballot.misses.enumerated() {
            hits[shadow] = hits[shadow] * kept + Double(ballot.length - misses)
        }
        var winner = best
        for shadow in hits.indices where hits[shadow] > hits[winner] { winner = shadow }
        // A lead beyond chance, because each change of the window costs some hits.
        guard hits[winner] > hits[best] * 1.005 else { return false }
        best = winner
        return true
    }
}

/// The window that suits the load of a table, found by all of its shards together.
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

    var winner: Int { votes.withLock { $0.best } }

    func add(_ ballot: WindowVotes.Ballot) -> Int {
        votes.withLock { votes in
            _ = votes.add(ballot)
            return votes.best
        }
    }
}
