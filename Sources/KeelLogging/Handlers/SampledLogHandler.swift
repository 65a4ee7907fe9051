#if Logging

public import Logging
internal import Synchronization

/// A handler that passes on only a part of what one statement logs over and over.
///
/// Of each statement, told by file, line and level, the first ``LogSampling/first`` records of an
/// interval pass, and then every ``LogSampling/thereafter``th. The first one that passes after some
/// were held back has the metadata `log.sampled`, which says how many. Records from the level
/// ``LogSampling/sparing`` always pass.
///
/// Place it outside of a handler that makes records: what is held back then costs next to nothing.
public struct SampledLogHandler<Upstream: LogHandler>: LogHandler {
    private var upstream: Upstream
    private let sampler: LogSampler

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - upstream: The handler that records are passed on to.
    ///   - sampler: What decides; handlers that share it count together.
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
        guard let heldBack = sampler.pass(event) else { return }
        guard heldBack > 0 else { return upstream.log(event: event) }
        var event = event
        event.metadata = event.metadata ?? [:]
        event.metadata?["log.sampled"] = .stringConvertible(heldBack)
        upstream.log(event: event)
    }
}

extension LogHandler {
    /// Passes on only a part of what one statement logs over and over; see ``SampledLogHandler``.
    public func sampled(by sampler: LogSampler) -> SampledLogHandler<Self> {
        SampledLogHandler(self, sampler: sampler)
    }
}

/// How much passes a ``SampledLogHandler``.
public struct LogSampling: Sendable, Hashable {
    /// How many records of a statement pass in each interval.
    public var first = 100
    /// Of those that follow in the interval, every how manyth passes; 0 is none.
    public var thereafter = 100
    /// The length of an interval.
    public var interval = Duration.seconds(1)
    /// The level from which everything passes.
    public var sparing = Logger.Level.warning

    /// Creates the usual rule: 100 a second, then every 100th, and all warnings and errors.
    public init() {}
}

/// Decides which records pass a ``SampledLogHandler``, and counts the others.
public final class LogSampler: Sendable {
    private struct Counter {
        var key = 0
        var intervalEnd = Int64.min
        var count = 0
        var heldBack = 0
    }

    private struct State {
        var counters: [Counter]
        var total = 0
    }

    private let sampling: LogSampling
    private let now: @Sendable () -> Int64
    private let state: Mutex<State>

    /// A table of this length holds a few thousand statements; two that meet in one place share it.
    private static let tableLength = 4096

    /// Creates a sampler.
    ///
    /// - Parameters:
    ///   - sampling: How much passes.
    ///   - now: The time, in microseconds since 1970; nil is the system's.
    public init(_ sampling: LogSampling = LogSampling(), now: (@Sendable () -> Int64)? = nil) {
        self.sampling = sampling
        self.now = now ?? { SystemTime.now() }
        state = Mutex(State(counters: Array(repeating: Counter(), count: Self.tableLength)))
    }

    /// How many records were held back so far.
    public var heldBackCount: Int { state.withLock { $0.total } }

    /// Whether a record passes.
    ///
    /// - Returns: How many were held back since the last one that passed; nil if this one is.
    func pass(_ event: LogEvent) -> Int? {
        guard event.level < sampling.sparing else { return 0 }
        var hasher = Hasher()
        hasher.combine(event.file)
        hasher.combine(event.line)
        hasher.combine(event.level)
        let key = hasher.finalize()
        let time = now()
        return state.withLock { state in
            let index = Int(UInt(bitPattern: key) % UInt(Self.tableLength))
            var counter = state.counters[index]
            if time >= counter.intervalEnd || counter.key != key {
                // What was held back of another statement stays in the total.
                if counter.key != key { counter.heldBack = 0 }
                counter.key = key
                counter.count = 0
                counter.intervalEnd = time + max(1, sampling.interval.microseconds)
            }
            counter.count += 1
            let beyond = counter.count - sampling.first
            let passes =
                beyond <= 0 || sampling.thereafter > 0 && beyond % sampling.thereafter == 0
            let heldBack = counter.heldBack
            if passes {
                counter.heldBack = 0
            } else {
                counter.heldBack += 1
                state.total += 1
            }
            state.counters[index] = counter
            return passes ? heldBack : nil
        }
    }
}

#endif
