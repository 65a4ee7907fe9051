public import KeelAnalytics
public import KeelCache
public import KeelHTTP
public import KeelSync

#if Logging
public import KeelLogging
#endif

extension BackgroundWork {
    /// Adds the delivery of events, and at the end of what may leave then.
    ///
    /// - Parameters:
    ///   - analytics: The service.
    ///   - limit: How long to go on delivering at the end.
    public mutating func add(
        _ analytics: AnalyticsService,
        flushingUpTo limit: Duration = .seconds(10)
    ) {
        add(
            "analytics",
            // The limit is the flush's own, on the clock of the service.
            finishingWithin: limit + .seconds(5),
            run: { await analytics.run() },
            finish: { await analytics.flush(upTo: limit) }
        )
    }

    /// Adds the sending of an outbox, and at the end of what can be sent then.
    ///
    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - sender: Sends the entries.
    ///   - limit: How long to go on sending at the end.
    public mutating func add(
        _ outbox: Outbox,
        sending sender: some OutboxSender,
        flushingUpTo limit: Duration = .seconds(10)
    ) {
        add(
            "outbox",
            finishingWithin: limit,
            run: { try await outbox.run(sending: sender) },
            // Entries that fail here stay in the outbox.
            finish: { _ = try? await outbox.flush(sending: sender) }
        )
    }

    /// Adds the writing of what caches have not yet on the disk, at the end.
    ///
    /// - Parameter caches: The caches.
    public mutating func add(_ caches: CacheStore) {
        // A value that cannot be written is loaded from its source again.
        add(atEnd: "caches") { try? await caches.flush() }
    }

    /// Adds the shutdown of a transport at the end: before those that send over it.
    ///
    /// - Parameter transport: The transport.
    public mutating func add(_ transport: some HTTPTransport) {
        add(atEnd: "transport") { await transport.shutdown() }
    }

    #if Logging
    /// Adds that records are made safe at the end: before all others, which may log.
    ///
    /// - Parameter output: Where records go.
    public mutating func add(_ output: some LogOutput) {
        add(atEnd: "logs") { output.synchronize() }
    }
    #endif
}
