/// Limits how often a receiver is asked during the search for a record that it refuses.
///
/// Halving a batch retries immediately, which finds one bad record in a few requests. Without a
/// limit, a receiver that refuses everything would get twice as many requests as there are records.
package struct RefusalPace: Sendable {
    /// The maximum number of refusals per minute.
    package static let limit = 30
    private static let window = Duration.seconds(60)

    /// The refusals of the last minute, oldest first.
    private var times: [Duration] = []

    package init() {}

    /// Notes a refusal.
    ///
    /// - Parameter now: The time on a timeline.
    /// - Returns: How long to pause; nil to continue immediately.
    package mutating func pause(afterRefusalAt now: Duration) -> Duration? {
        times.removeAll { now - $0 >= Self.window }
        times.append(now)
        guard times.count >= Self.limit, let first = times.first else { return nil }
        return first + Self.window - now
    }
}
