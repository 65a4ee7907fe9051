#if ServiceLifecycle
public import ServiceLifecycle

/// A part of an app that runs in a `ServiceGroup`, and finishes what is left when that ends.
///
/// The parts of Keel that run for long make one: see `service()` of each. One of the app's own:
///
/// ```swift
/// let reports = LifecycleService("reports") {
///     try await reporter.run()
/// } finish: {
///     await reporter.writeLastReport()
/// }
/// ```
///
/// A graceful shutdown cancels the run; then what there is to finish is done, for as long as the limit
/// at most. It is done also when the run ends by itself or is cancelled, in a cancelled task then. A
/// group shuts its services down in reverse order: name first what the others need, such as
/// transports.
public struct LifecycleService: Service, CustomStringConvertible {
    private let name: String
    private let limit: Duration
    private let clock: any Clock<Duration>
    private let body: @Sendable () async throws -> Void
    private let finish: @Sendable () async -> Void

    /// Creates a service that runs until it is cancelled.
    ///
    /// - Parameters:
    ///   - name: What logs of the group call it.
    ///   - limit: How long finishing may take; it is cancelled then.
    ///   - clock: What the limit is measured on.
    ///   - run: The run. A graceful shutdown cancels its task.
    ///   - finish: What is done after it.
    public init(
        _ name: String,
        finishingWithin limit: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock(),
        run: @escaping @Sendable () async throws -> Void,
        finish: @escaping @Sendable () async -> Void = {}
    ) {
        self.name = name
        self.limit = limit
        self.clock = clock
        body = run
        self.finish = finish
    }

    /// Creates a service that does nothing until the shutdown, and then something.
    ///
    /// - Parameters:
    ///   - name: What logs of the group call it.
    ///   - limit: How long that may take; it is cancelled then.
    ///   - clock: What the limit is measured on.
    ///   - finish: What is done.
    public init(
        atShutdown name: String,
        within limit: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock(),
        _ finish: @escaping @Sendable () async -> Void
    ) {
        self.init(
            name,
            finishingWithin: limit,
            clock: clock,
            run: { try await gracefulShutdown() },
            finish: finish
        )
    }

    public var description: String { name }

    /// Runs until the task is cancelled or a graceful shutdown begins, and finishes.
    ///
    /// - Throws: What the run throws, unless a shutdown has ended it.
    public func run() async throws {
        do {
            try await cancelWhenGracefulShutdown(body)
        } catch {
            await finishInTime()
            guard Task.isShuttingDownGracefully, !Task.isCancelled else { throw error }
            return
        }
        await finishInTime()
    }

    private func finishInTime() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await finish() }
            group.addTask { try? await clock.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
#else
/// A part of an app that runs in a `ServiceGroup`; it needs the trait `ServiceLifecycle`.
@available(*, unavailable, message: "Enable the 'ServiceLifecycle' trait of the keel package.")
public struct LifecycleService: Sendable {}
#endif
