/// Which of the windows on trial had the most hits of late.
struct WindowVotes: Sendable {
    /// What shadows found in one epoch.
    struct Ballot: Sendable {
        /// How many keys were asked for.
        var length: Int
        /// How many of them each shadow had not got.
        var misses: [Int]
    }

    /// The place of the winner in ``ShadowCaches/windows``.
    private(set) var best = 0
    /// The sums of the hits of each shadow, of which each epoch forgets some.
    private var hits = [Double](repeating: 0, count: ShadowCaches.windows.count)
    private let kept: Double

    /// Creates votes that forget a twentieth with each epoch, or less.
    ///
    /// - Parameter span: How many times slower than that.
    init(span: Int = 1) { kept = 1 - 0.05 / Double(span) }

    /// Adds an epoch.
    ///
    /// - Returns: Whether ``best`` changed.
    mutating func add(_ ballot: Ballot) -> Bool {
        for (shadow, misses) in ballot.misses.enumerated() {
            hits[shadow] = hits[shadow] * kept + Double(ballot.length - misses)
        }
        var winner = best
        for shadow in hits.indices where hits[shadow] > hits[winner] { winner = shadow }
        // A lead that is no accident: each move costs some hits.
        guard hits[winner] > hits[best] * 1.005 else { return false }
        best = winner
        return true
    }
}
