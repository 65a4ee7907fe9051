public import KeelAnalytics
public import KeelCache
public import KeelHTTP
public import KeelSync

#if Logging
public import KeelLogging
#endif

extension BackgroundWork {
    /// Adds the delivery of events, and a final delivery at the end, which `flushTimeout` limits.
    public mutating func add(
        _ analytics: AnalyticsService,
        flushTimeout: Duration = .seconds(10)
    ) {
        add(
            "analytics",
            // The flush has its own limit, on the service's clock.
            finishTimeout: flushTimeout + .seconds(5),
            run: { await analytics.run() },
            finish: { await analytics.flush(upTo: flushTimeout) }
        )
    }

    /// Adds the sending of an outbox, and a final attempt at the end, which `flushTimeout` limits.
    public mutating func add(
        _ outbox: Outbox,
        sending sender: some OutboxSender,
        flushTimeout: Duration = .seconds(10)
    ) {
        add(
            "outbox",
            finishTimeout: flushTimeout,
            run: { try await outbox.run(sending: sender) },
            // Entries that fail here stay in the outbox.
            finish: { _ = try? await outbox.flush(sending: sender) }
        )
    }

    /// Adds a final write of cached values that are not yet on disk.
    public mutating func add(_ caches: CacheStore) {
        // A value that cannot be written can be loaded from its source again.
        add(atEnd: "caches") { try? await caches.flush() }
    }

    /// Adds the shutdown of a transport at the end; add it before parts that use it.
    public mutating func add(_ transport: some HTTPTransport) {
        add(atEnd: "transport") { await transport.shutdown() }
    }

    #if Logging
    /// Adds a final synchronization of logs; add it first.
    public mutating func add(_ output: some LogOutput) {
        add(atEnd: "logs") { output.synchronize() }
    }
    #endif
}
