internal import KeelJournal

extension AnalyticsService {
    /// Delivers events as they come, until the task is cancelled.
    ///
    /// The app keeps it running as long as it runs itself:
    ///
    /// ```swift
    /// await withTaskGroup { group in
    ///     group.addTask { await analytics.run() }
    ///     // …
    /// }
    /// ```
    ///
    /// Events gather for the configuration's interval. After a failure the pauses grow, for each
    /// destination by itself. Cancelling it at any moment loses nothing.
    @concurrent
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            for lane in lanes { group.addTask { await lane.run() } }
        }
    }

    /// Delivers what may leave now, before the app goes to the background for example.
    ///
    /// Pauses after failures are cut short, but for those that a destination asked for. The call
    /// works with and without ``run()``.
    ///
    /// - Parameter limit: How long to try at most.
    /// - Returns: Whether nothing is left that may leave.
    @concurrent
    @discardableResult
    public func flush(upTo limit: Duration = .seconds(10)) async -> Bool {
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

    /// The names of destinations that the journal keeps events for and the configuration does not
    /// have any more.
    ///
    /// They hold the journal until its bounds are reached: see ``forget(_:)``.
    ///
    /// - Returns: The names, in order.
    /// - Throws: ``AnalyticsError``.
    public func abandonedDestinations() throws(AnalyticsError) -> [String] {
        let known = Set(lanes.map(\.name))
        do throws(JournalError) {
            return try tracker.journal.consumerNames().filter { !known.contains($0) }
        } catch {
            throw AnalyticsError(error, "Looking for destinations")
        }
    }

    /// Forgets a destination that the configuration does not have any more, with its ledger and
    /// what still waits for it.
    ///
    /// - Parameter name: The destination's name; one that is not known is fine.
    /// - Throws: ``AnalyticsError``, with ``AnalyticsError/Code/inUse`` for one of the configuration.
    public func forget(_ name: String) throws(AnalyticsError) {
        do throws(JournalError) {
            try tracker.journal.forgetConsumer(name)
        } catch {
            throw AnalyticsError(error, "Forgetting the destination “\(name)”")
        }
    }
}
