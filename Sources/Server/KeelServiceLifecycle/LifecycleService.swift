#if ServiceLifecycle
public import ServiceLifecycle

/// A part of an app that runs in a `ServiceGroup` and finishes its work at the end.
///
/// The long-running parts of Keel create one with their `service()` method. An app can add its own:
///
/// ```swift
/// let reports = LifecycleService("reports") {
///     try await reporter.run()
/// } finish: {
///     await reporter.writeLastReport()
/// }
/// ```
///
/// A graceful shutdown cancels the run. Then the service finishes its work, which is canceled after the time limit, and
/// ends when it returns. The service also finishes if the run ends by itself, fails, or is canceled, in the last case
/// in a canceled task. A group shuts its services down in reverse order, so list services that others need first, such
/// as transports.
public struct LifecycleService: Service, CustomStringConvertible {
    private let name: String
    private let limit: Duration
    private let clock: any Clock<Duration>
    private let body: @Sendable () async throws -> Void
    private let finish: @Sendable () async -> Void

    /// Creates a service that runs until it is canceled.
    ///
    /// - Parameters:
    ///   - name: The name of the service in the group's logs.
    ///   - finishTimeout: The time after which finishing is canceled.
    ///   - clock: The clock of the timeout.
    ///   - run: The run, whose task a graceful shutdown cancels.
    ///   - finish: The work to finish after the run.
    public init(
        _ name: String,
        finishTimeout: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock(),
        run: @escaping @Sendable () async throws -> Void,
        finish: @escaping @Sendable () async -> Void = {}
    ) {
        self.name = name
        limit = finishTimeout
        self.clock = clock
        body = run
        self.finish = finish
    }

    /// Returns a service that only acts at shutdown.
    ///
    /// - Parameters:
    ///   - name: The name of the service in the group's logs.
    ///   - limit: The time after which the action is canceled.
    ///   - clock: The clock of the limit.
    ///   - action: The action.
    /// - Returns: The service.
    public static func shutdownAction(
        _ name: String,
        within limit: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock(),
        _ action: @escaping @Sendable () async -> Void
    ) -> LifecycleService {
        LifecycleService(
            name,
            finishTimeout: limit,
            clock: clock,
            run: { try await gracefulShutdown() },
            finish: action
        )
    }

    public var description: String { name }

    /// Runs until the task is canceled or a graceful shutdown begins, and then finishes.
    ///
    /// - Throws: The error of the run, unless a shutdown has ended it.
    public func run() async throws {
        do {
            try await cancelWhenGracefulShutdown(body)
        } catch {
            // A shutdown that begins while the service finishes has not ended the run.
            let isShutDown = Task.isShuttingDownGracefully
            await finishInTime()
            guard isShutDown, !Task.isCancelled else { throw error }
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
/// A part of an app that runs in a `ServiceGroup`; requires the trait `ServiceLifecycle`.
@available(*, unavailable, message: "Enable the 'ServiceLifecycle' trait of the keel package.")
public struct LifecycleService: Sendable {}
#endif
