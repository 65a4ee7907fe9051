#if Logging

internal import KeelCore
public import Logging
internal import Synchronization

/// A handler that passes on only a sample of repeated records.
///
/// For each statement, identified by file, line and level, the first ``LogSampling/first`` records of an interval pass,
/// and then every ``LogSampling/thereafter``th. The first record to pass after others were suppressed has the metadata
/// `log.sampled` with their number. Records from level ``LogSampling/unsampledLevel`` up always pass.
///
/// Wrap it around the handler that makes the records: suppressed events then cost almost nothing.
public struct SampledLogHandler<Upstream: LogHandler>: LogHandler {
    private var upstream: Upstream
    private let sampler: LogSampler

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - upstream: The handler that receives the passed records.
    ///   - sampler: The sampler that decides; handlers that share it count together.
    public init(_ upstream: Upstream, sampler: LogSampler) {
        self.upstream = upstream
        self.sampler = sampler
    }

    public var logLevel: Logger.Level {
        get { upstream.logLevel }
        set { upstream.logLevel = newValue }
    }

    public var metadata: Logger.Metadata {
        get { upstream.metadata }
        set { upstream.metadata = newValue }
    }

    public var metadataProvider: Logger.MetadataProvider? {
        get { upstream.metadataProvider }
        set { upstream.metadataProvider = newValue }
    }

    public subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { upstream[metadataKey: key] }
        set { upstream[metadataKey: key] = newValue }
    }

    public func log(event: LogEvent) {
        guard let suppressed = sampler.pass(event) else { return }
        guard suppressed > 0 else { return upstream.log(event: event) }
        var event = event
        event.metadata = event.metadata ?? [:]
        event.metadata?["log.sampled"] = .stringConvertible(suppressed)
        upstream.log(event: event)
    }
}

extension LogHandler {
    /// Passes on only a sample of repeated records; see ``SampledLogHandler``.
    public func sampled(by sampler: LogSampler) -> SampledLogHandler<Self> {
        SampledLogHandler(self, sampler: sampler)
    }
}

/// The sampling rule of a ``SampledLogHandler``.
public struct LogSampling: Sendable, Hashable {
    /// The number of records per statement that pass in each interval.
    public var first = 100
    /// The distance between the later records of the interval that pass: with 100, every hundredth; 0 for none.
    public var thereafter = 100
    /// The length of an interval.
    public var interval = Duration.seconds(1)
    /// The level from which all records pass.
    public var unsampledLevel = Logger.Level.warning

    /// Creates the default rule: 100 records per second, then every 100th; all from `warning` up.
    public init() {}
}

/// Decides which records pass a ``SampledLogHandler``, and counts the suppressed ones.
public final class LogSampler: Sendable {
    private struct Counter {
        var key = 0
        var intervalEnd = Int64.min
        var count = 0
        var suppressed = 0
    }

    private struct State {
        var counters: [Counter]
        var total = 0
    }

    private let sampling: LogSampling
    private let now: @Sendable () -> Int64
    private let state: Mutex<State>

    /// Enough for a few thousand statements; statements with the same slot share it.
    private static let tableLength = 4096

    /// Creates a sampler.
    ///
    /// - Parameters:
    ///   - sampling: The rule.
    ///   - now: Returns the time in microseconds since 1970; nil for the system's time.
    public init(_ sampling: LogSampling = LogSampling(), now: (@Sendable () -> Int64)? = nil) {
        self.sampling = sampling
        self.now = now ?? { SystemTime.now() }
        state = Mutex(State(counters: Array(repeating: Counter(), count: Self.tableLength)))
    }

    /// The number of records suppressed so far.
    public var suppressedCount: Int { state.withLock { $0.total } }

    /// Decides whether a record passes.
    ///
    /// - Returns: The number suppressed since the last record that passed; nil if suppressed.
    func pass(_ event: LogEvent) -> Int? {
        guard event.level < sampling.unsampledLevel else { return 0 }
        var hasher = Hasher()
        hasher.combine(event.file)
        hasher.combine(event.line)
        hasher.combine(event.level)
        let key = hasher.finalize()
        let time = now()
        return state.withLock { state in
            let index = Int(UInt(bitPattern: key) % UInt(Self.tableLength))
            var counter = state.counters[index]
            let length = max(1, sampling.interval.microseconds)
            // A clock that was far ahead and is right again ends the interval as well.
            let isOver = time >= counter.intervalEnd || counter.intervalEnd - time > length
            if isOver || counter.key != key {
                // The suppressed records of the evicted statement remain in the total.
                if counter.key != key { counter.suppressed = 0 }
                counter.key = key
                counter.count = 0
                counter.intervalEnd = time + length
            }
            counter.count += 1
            let beyond = counter.count - sampling.first
            let passes =
                beyond <= 0 || sampling.thereafter > 0 && beyond % sampling.thereafter == 0
            let suppressed = counter.suppressed
            if passes {
                counter.suppressed = 0
            } else {
                counter.suppressed += 1
                state.total += 1
            }
            state.counters[index] = counter
            return passes ? suppressed : nil
        }
    }
}

#endif
