#if Logging

internal import Logging
internal import Synchronization

/// An output that accepts records immediately and writes them to a slower output in the background.
///
/// Use it for outputs that can block an app, such as a console with a slow reader. The queue is bounded by count and by
/// bytes. When it is full, the least serious records are dropped first; a later record reports how many, and
/// ``statistics`` and the counter `keel.log.dropped` count them.
///
/// Queued records are lost if the process ends. A record of level `critical` is written, with all records before it,
/// before its log call returns. ``RotatingLogFile`` and the outputs over a journal are fast and lose nothing: they need
/// no queue.
public final class QueuedLogOutput<Upstream: LogOutput>: LogOutput {
    private struct State {
        var queue: LogQueue
        var isWorking = false
        /// The number of records written since the last gap record.
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
    ///   - countLimit: The maximum number of queued records, at least 1.
    ///   - byteLimit: Their approximate maximum size in memory in bytes, at least 1 KiB.
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

    /// The counts so far; `written` counts the records passed to the slower output.
    public var statistics: LogOutputStatistics { state.withLock { $0.statistics } }

    /// The number of queued records.
    public var waitingCount: Int { state.withLock { $0.queue.count } }

    public func write(_ record: LogRecord) {
        let (gone, begins) = state.withLock { state in
            let gone = state.queue.append(record)
            for level in gone { state.statistics.dropped[level] += 1 }
            defer { state.isWorking = true }
            return (gone, !state.isWorking)
        }
        for level in gone { LogMetrics.dropped(1, level, output: "queue") }
        // The closure retains the output, so a released output still writes its queued records.
        if begins { worker { self.drain() } }
    }

    /// Writes all queued records, then synchronizes the slower output.
    public func synchronize() {
        // A thread that has queued a record may not have reached the worker yet.
        worker { self.drain() }
        worker.finish()
        upstream.synchronize()
    }

    private func drain() {
        while let record = next() {
            upstream.write(record)
        }
    }

    /// The next record to write: a queued one, or a gap record.
    private func next() -> LogRecord? {
        state.withLock { state in
            // Reported when the queue is empty, and every 1024 records if it never is.
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
    /// Puts a bounded queue in front of this output; see ``QueuedLogOutput`` and its initializer.
    public func queued(countLimit: Int = 8192, byteLimit: Int = 8 << 20) -> QueuedLogOutput<Self> {
        QueuedLogOutput(self, countLimit: countLimit, byteLimit: byteLimit)
    }
}

#endif
