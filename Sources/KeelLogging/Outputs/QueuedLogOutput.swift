#if Logging

internal import Logging
internal import Synchronization

/// An output that takes records at once and writes them to a slower one beside the caller.
///
/// For what may hold up an app: a console whose reader is slow, or an output of one's own. What
/// waits is bounded by count and by bytes. When there is no room, the least serious records go
/// first, `trace` and `debug` before all others; a record says afterwards how many, and
/// ``statistics`` and the counter `keel.log.dropped` count them.
///
/// The price is that what waits in memory is lost with the process. A record of the level
/// `critical` is written, with all before it, before its log call returns. ``RotatingLogFile`` and
/// the outputs over a journal are fast and lose nothing: they need no queue.
public final class QueuedLogOutput<Upstream: LogOutput>: LogOutput {
    private struct State {
        var queue: LogQueue
        var isWorking = false
        /// How many records were written since the last that told of dropped ones.
        var sinceGap = 0
        var statistics = LogOutputStatistics()
    }

    private let upstream: Upstream
    private let worker: LogWorker
    private let state: Mutex<State>

    /// Creates an output.
    ///
    /// - Parameters:
    ///   - upstream: The slower output.
    ///   - countLimit: How many records may wait, at least 1.
    ///   - byteLimit: How many bytes of memory they may take, about; at least 1 KiB.
    public convenience init(
        _ upstream: Upstream,
        countLimit: Int = 8192,
        byteLimit: Int = 8 << 20
    ) {
        self.init(
            upstream,
            countLimit: countLimit,
            byteLimit: byteLimit,
            worker: .background("keel.logging.queue")
        )
    }

    package init(_ upstream: Upstream, countLimit: Int, byteLimit: Int, worker: LogWorker) {
        self.upstream = upstream
        self.worker = worker
        state = Mutex(State(queue: LogQueue(countLimit: countLimit, byteLimit: byteLimit)))
    }

    /// What has happened so far; `written` counts what the slower output was given.
    public var statistics: LogOutputStatistics { state.withLock { $0.statistics } }

    /// How many records wait.
    public var waitingCount: Int { state.withLock { $0.queue.count } }

    public func write(_ record: LogRecord) {
        let (gone, begins) = state.withLock { state in
            let gone = state.queue.append(record)
            for level in gone { state.statistics.dropped[level] += 1 }
            defer { state.isWorking = true }
            return (gone, !state.isWorking)
        }
        for level in gone { LogMetrics.dropped(1, level, output: "queue") }
        // The work holds the output, so that an output that is let go still writes what it has.
        if begins { worker { self.drain() } }
    }

    /// Writes all that waits, and lets the slower output synchronise.
    public func synchronize() {
        worker.finish()
        upstream.synchronize()
    }

    private func drain() {
        while let record = next() {
            upstream.write(record)
        }
    }

    /// The next record to write: one that waits, or what tells of those that were dropped.
    private func next() -> LogRecord? {
        state.withLock { state in
            // Told as soon as there is time, and now and then where there never is.
            if state.queue.isEmpty || state.sinceGap >= 1024,
                let dropped = state.queue.takeDropped()
            {
                state.sinceGap = 0
                return .gap(dropped, because: "the output is too slow", at: SystemTime.now())
            }
            guard let record = state.queue.popFirst() else {
                state.isWorking = false
                return nil
            }
            state.statistics.written += 1
            state.sinceGap += 1
            return record
        }
    }
}

extension LogOutput {
    /// Puts a bounded queue before this output; see ``QueuedLogOutput``.
    ///
    /// - Parameters:
    ///   - countLimit: How many records may wait, at least 1.
    ///   - byteLimit: How many bytes of memory they may take, about; at least 1 KiB.
    /// - Returns: The output with its queue.
    public func queued(
        countLimit: Int = 8192,
        byteLimit: Int = 8 << 20
    ) -> QueuedLogOutput<Self> {
        QueuedLogOutput(self, countLimit: countLimit, byteLimit: byteLimit)
    }
}

#endif
