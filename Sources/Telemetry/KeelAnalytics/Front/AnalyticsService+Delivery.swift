internal import KeelCore
internal import KeelJournal

extension AnalyticsService {
    /// Delivers events as they arrive, until the task is canceled.
    ///
    /// Run it for the lifetime of the app:
    ///
    /// ```swift
    /// await withTaskGroup { group in
    ///     group.addTask { await analytics.run() }
    ///     // …
    /// }
    /// ```
    ///
    /// After failures, the delays of the affected destination grow. Cancellation loses no events. While another service
    /// delivers the events of the folder, the call looks every 30 seconds whether that service has ended. If it cannot
    /// take over then, ``AnalyticsStatus/deliveryProblem`` has the reason.
    @concurrent
    public func run() async {
        let (interval, clock) = (
            tracker.configuration.deliveryInterval, tracker.configuration.clock
        )
        while !takesRight() {
            do { try await clock.sleep(for: Self.patience) } catch { return }
        }
        await withTaskGroup(of: Void.self) { group in
            for lane in lanes {
                group.addTask {
                    await lane.run(
                        collectingFor: interval,
                        until: tracker.hurry,
                        patience: { tracker.isShared ? Self.patience : nil }
                    )
                }
            }
        }
    }

    /// The longest delay before the end of another service, or its events, are noticed.
    private static var patience: Duration { .seconds(30) }

    /// Takes the right to deliver if possible, and publishes an error.
    private func takesRight() -> Bool {
        var problem: AnalyticsError.Code?
        var isTaken = false
        do throws(AnalyticsError) {
            isTaken = try takeRight()
        } catch {
            // A destination is still in use by a service that is about to end.
            if error.code != .inUse { problem = error.code }
        }
        tracker.board.change { $0.deliveryProblem = problem }
        return isTaken
    }

    private func takeRight() throws(AnalyticsError) -> Bool {
        guard !right.isHeld else { return true }
        guard try right.take() else { return false }
        if !tracker.settings.unfinishedDenials.isEmpty { try? finishDenials() }
        return true
    }

    /// Delivers all events that may be sent now, for example before the app moves to the background.
    ///
    /// The call ignores the delays after failures, except those that a destination requested. It does not need
    /// ``run()``. After `limit`, it cancels the requests in flight.
    ///
    /// - Returns: Whether no deliverable events are left; false while another service delivers them.
    @concurrent
    @discardableResult
    public func flush(upTo limit: Duration = .seconds(10)) async -> Bool {
        guard takesRight() else { return false }
        let clock = tracker.configuration.clock
        return await withTaskGroup(of: Bool?.self) { group in
            group.addTask { await deliverAll() }
            group.addTask {
                try? await clock.sleep(for: limit)
                return nil
            }
            var isDone = false
            for await ending in group {
                isDone = ending ?? isDone
                group.cancelAll()
            }
            return isDone
        }
    }

    private func deliverAll() async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for lane in lanes {
                group.addTask { await lane.deliver(isForced: true) == .drained }
            }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    /// Returns the destinations that have a ledger in the journal but are no longer configured.
    ///
    /// Their events stay in the journal, up to its limits, until you call ``removeDestination(_:)``.
    ///
    /// - Returns: The names, in order.
    /// - Throws: ``AnalyticsError`` if the journal cannot be read.
    public func unconfiguredDestinations() throws(AnalyticsError) -> [String] {
        let known = Set(tracker.configuration.destinations.map { $0.destination.name })
        return try AnalyticsError.mapped("Looking for destinations") { () throws(JournalError) in
            try tracker.journal.consumerNames().filter { !known.contains($0) }
        }
    }

    /// Removes a destination that is no longer configured, with its ledger and pending events.
    ///
    /// - Parameter name: The destination's name; an unknown name is ignored.
    /// - Throws: ``AnalyticsError``, with ``AnalyticsError/Code/inUse`` for a current one.
    public func removeDestination(_ name: String) throws(AnalyticsError) {
        try AnalyticsError.mapped("Removing the destination “\(name)”") { () throws(JournalError) in
            try tracker.journal.removeConsumer(name)
        }
    }
}
