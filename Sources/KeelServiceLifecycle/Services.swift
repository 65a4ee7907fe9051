#if ServiceLifecycle
public import KeelAnalytics
public import KeelCache
public import KeelHTTP
public import KeelLogging
public import KeelLoggingOTLP
public import KeelStorage
public import KeelSync

extension AnalyticsService {
    /// Delivers events as they come, and at the shutdown what may leave then.
    ///
    /// What is not delivered by then is delivered by the next process.
    ///
    /// - Parameter limit: How long to go on delivering at the shutdown.
    /// - Returns: The service.
    public func service(flushingUpTo limit: Duration = .seconds(10)) -> LifecycleService {
        LifecycleService(
            "keel.analytics",
            // The limit is the flush's own, on the clock of the configuration.
            finishingWithin: limit + .seconds(5),
            run: { await run() },
            finish: { await flush(upTo: limit) }
        )
    }
}

extension OTLPLogExporter {
    /// Ships records as they come, and at the shutdown those that are there.
    ///
    /// Records that the services of the group log while they shut down are shipped where this
    /// service comes before them in the group. What is not shipped is shipped by the next process.
    ///
    /// - Parameters:
    ///   - limit: How long to go on shipping at the shutdown.
    ///   - clock: What the limit is measured on.
    /// - Returns: The service.
    public func service(
        flushingUpTo limit: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> LifecycleService {
        LifecycleService(
            "keel.logs",
            finishingWithin: limit,
            clock: clock,
            run: { [self] in await run() },
            finish: { [self] in await flush() }
        )
    }
}

extension Outbox {
    /// Sends writes as they come, and at the shutdown those that can be sent then.
    ///
    /// What is not sent is sent by the next process.
    ///
    /// - Parameters:
    ///   - sender: What sends.
    ///   - limit: How long to go on sending at the shutdown.
    ///   - clock: What the limit is measured on.
    /// - Returns: The service.
    public func service(
        sending sender: some OutboxSender,
        flushingUpTo limit: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> LifecycleService {
        LifecycleService(
            "keel.outbox",
            finishingWithin: limit,
            clock: clock,
            run: { try await run(sending: sender) },
            // What fails here stays in the outbox.
            finish: { _ = try? await flush(sending: sender) }
        )
    }
}

extension ReconnectingWebSocket {
    /// Keeps a connection open until the shutdown.
    ///
    /// - Parameter session: What is done with each connection; the shutdown cancels its task.
    /// - Returns: The service.
    public func service(
        _ session: @escaping @Sendable (WebSocketConnection) async throws -> Void
    ) -> LifecycleService {
        LifecycleService("keel.websocket", run: { [self] in try await run(session) })
    }
}

extension LiveDocument {
    /// Keeps the document up to date until the shutdown.
    ///
    /// - Returns: The service.
    public nonisolated func service() -> LifecycleService {
        LifecycleService("keel.live", run: { [self] in await run() })
    }
}

extension LiveCollection {
    /// Keeps the documents up to date until the shutdown.
    ///
    /// - Returns: The service.
    public nonisolated func service() -> LifecycleService {
        LifecycleService("keel.live", run: { [self] in await run() })
    }
}

extension HTTPTransport {
    /// Shuts the transport down with the group: name it before those that send over it.
    ///
    /// - Returns: The service.
    public func service() -> LifecycleService {
        LifecycleService(atShutdown: "keel.transport") { await shutdown() }
    }
}

extension CacheStore {
    /// Writes at the shutdown what is not yet on the disk.
    ///
    /// - Returns: The service.
    public func service() -> LifecycleService {
        // A cache that cannot be written is read anew from its source.
        LifecycleService(atShutdown: "keel.cache") { [self] in try? await flush() }
    }
}

extension LogOutput {
    /// Makes at the shutdown the records safe that were written before: name it first.
    ///
    /// - Returns: The service.
    public func service() -> LifecycleService {
        LifecycleService(atShutdown: "keel.log") { synchronize() }
    }
}
#endif
