/// A clock with a concrete type of instants: the time since the timeline was created.
package struct Timeline: Sendable {
    private let read: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    package init(_ clock: any Clock<Duration>) {
        // The default clock is used with its concrete type, because calls read it several times and each reading
        // through the protocol would look up its types again.
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

    package var now: Duration { read() }

    /// Sleeps until a time since the timeline was created.
    package func sleep(until end: Duration) async throws { try await wait(end) }

    private static func beginning<C: Clock<Duration>>(_ clock: C) -> Timeline {
        let start = clock.now
        return Timeline(
            read: { start.duration(to: clock.now) },
            wait: { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        )
    }
}

/// Returns a function that measures the time since this call.
package func stopwatch(on clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
}
