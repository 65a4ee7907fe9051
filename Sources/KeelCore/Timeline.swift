/// The time of any clock as one type: how long ago the timeline was begun.
///
/// A clock behind `any Clock<Duration>` has instants of a type that nobody outside knows; what is
/// kept in a heap or compared between calls needs one that has a name.
package struct Timeline: Sendable {
    private let read: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    /// Begins a timeline.
    package init(_ clock: any Clock<Duration>) {
        // The usual clock by its own type, which calls read several times: through the protocol
        // each reading would look its types up anew.
        if let clock = clock as? ContinuousClock {
            self = Self.beginning(clock)
        } else {
            self = Self.beginning(clock)
        }
    }

    private init(
        read: @escaping @Sendable () -> Duration,
        wait: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.read = read
        self.wait = wait
    }

    /// How much time has passed since the beginning.
    package var now: Duration { read() }

    /// Sleeps until this much time has passed since the beginning.
    package func sleep(until end: Duration) async throws { try await wait(end) }

    private static func beginning<C: Clock<Duration>>(_ clock: C) -> Timeline {
        let start = clock.now
        return Timeline(
            read: { start.duration(to: clock.now) },
            wait: { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        )
    }
}
