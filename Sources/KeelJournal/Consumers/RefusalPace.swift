/// Bounds how often a receiver is asked while somebody looks for the record that it refuses.
///
/// Halving a batch asks again at once, which finds one bad record in a few requests. A receiver that
/// refuses everything would see twice as many requests as there are records.
package struct RefusalPace: Sendable {
    /// The most refusals of any minute.
    package static let limit = 30
    private static let window = Duration.seconds(60)

    /// The refusals of the last minute, the oldest first.
    private var times: [Duration] = []

    package init() {}

    /// Notes a refusal.
    ///
    /// - Parameter now: The time of a timeline.
    /// - Returns: How long to ask nothing, nil to go on at once.
    package mutating func pause(afterRefusalAt now: Duration) -> Duration? {
        times.removeAll { now - $0 >= Self.window }
        times.append(now)
        guard times.count >= Self.limit, let first = times.first else { return nil }
        return first + Self.window - now
    }
}
