#if ServiceLifecycle
public import KeelAnalytics
public import KeelCache
public import KeelHTTP
public import KeelLogging
public import KeelLoggingOTLP
public import KeelStorage
public import KeelSync
public import KeelWebSocket

extension AnalyticsService {
    /// Returns a service that delivers events continuously, and flushes at shutdown for at most `flushTimeout`.
    ///
    /// The next launch delivers the remaining events.
    public func service(flushTimeout: Duration = .seconds(10)) -> LifecycleService {
        LifecycleService(
            "keel.analytics",
            // The flush applies the limit itself, on the clock of the configuration.
            finishTimeout: flushTimeout + .seconds(5),
            run: { await run() },
            finish: { await flush(upTo: flushTimeout) }
        )
    }
}

extension OTLPLogExporter {
    /// Returns a service that ships records continuously, and flushes at shutdown for at most `flushTimeout`.
    ///
    /// Records that other services log during shutdown are shipped if this service precedes them in the group. The next
    /// launch ships the remaining records.
    public func service(
        flushTimeout: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> LifecycleService {
        LifecycleService(
            "keel.logs",
            finishTimeout: flushTimeout,
            clock: clock,
            run: { [self] in await run() },
            finish: { [self] in await flush() }
        )
    }
}

extension Outbox {
    /// Returns a service that sends writes continuously, and flushes at shutdown for at most `flushTimeout`.
    ///
    /// The next launch sends the remaining writes.
    public func service(
        sending sender: some OutboxSender,
        flushTimeout: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> LifecycleService {
        LifecycleService(
            "keel.outbox",
            finishTimeout: flushTimeout,
            clock: clock,
            run: { try await run(sending: sender) },
            // Writes that fail here stay in the outbox.
            finish: { _ = try? await flush(sending: sender) }
        )
    }
}

extension ReconnectingWebSocket {
    /// Returns a service that keeps a connection open until shutdown, which cancels the task of the session.
    public func service(
        _ session: @escaping @Sendable (WebSocketConnection) async throws -> Void
    ) -> LifecycleService {
        LifecycleService("keel.websocket", run: { [self] in try await run(session) })
    }
}

extension LiveDocument {
    /// Returns a service that keeps the document up to date until shutdown.
    public nonisolated func service() -> LifecycleService {
        LifecycleService("keel.live", run: { [self] in await run() })
    }
}

extension LiveCollection {
    /// Returns a service that keeps the documents up to date until shutdown.
    public nonisolated func service() -> LifecycleService {
        LifecycleService("keel.live", run: { [self] in await run() })
    }
}

extension HTTPTransport {
    /// Returns a service that shuts the transport down with the group.
    ///
    /// List it before the services that use the transport.
    public func service() -> LifecycleService {
        .shutdownAction("keel.transport") { await shutdown() }
    }
}

extension CacheStore {
    /// Returns a service that writes unsaved entries to disk at shutdown.
    public func service() -> LifecycleService {
        // A cache that cannot be written is loaded again from its source.
        .shutdownAction("keel.cache") { [self] in try? await flush() }
    }
}

extension LogOutput {
    /// Returns a service that synchronizes written records to disk at shutdown; list it first.
    public func service() -> LifecycleService {
        .shutdownAction("keel.log") { synchronize() }
    }
}
#endif
