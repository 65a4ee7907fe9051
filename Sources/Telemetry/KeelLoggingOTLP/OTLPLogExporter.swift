#if Logging

internal import KeelCore
public import KeelHTTP
public import KeelJournal
public import KeelLogging
internal import Synchronization

/// Ships the records of a journal to a collector over OTLP/HTTP.
///
/// - A record is retried until the collector accepts or refuses it, across restarts and outages of any length. Only the
///   bounds of the journal can remove it earlier; a record in its place reports how many were lost, and ``statistics``
///   counts them.
/// - After a lost response records are sent again. The attribute `log.record.uid` (a UUID of version 7) stays the same,
///   so that the collector can deduplicate.
/// - 408, 421, 425, 429 and every status from 500 up are retried after the delay in `Retry-After`, up to an hour, or
///   after a random delay with exponential backoff. Records refused in a partial success are not retried.
/// - A request that is refused (400, 422) or too large (413) is halved, so that a bad record costs only itself. A
///   record is given up if it is refused alone while others are accepted; a collector that refuses everything holds
///   records back. It receives at most 30 refused requests per minute.
/// - Any other status indicates a wrong URL, format or credentials, which hold records back.
///
/// ``run()`` ships until its task is canceled; ``flush()`` ships the current records, for example at the end of a
/// program. Without either, records stay in the journal.
public final class OTLPLogExporter: Sendable {
    private struct Opened: Sendable {
        let consumer: JournalConsumer
        let lane: DeliveryLane<OTLPCollector>
    }

    private let delay: Duration
    private let clock: any Clock<Duration>
    private let make: @Sendable () throws(JournalError) -> Opened
    /// The reader of the journal; nil while another exporter reads it under the same name.
    private let opened: Mutex<Opened?>
    /// Why the journal could not be read, other than because of another exporter.
    private let problem = Mutex<String?>(nil)

    /// The longest delay before records of another process, or the end of another exporter, are noticed.
    private static let patience = Duration.seconds(30)

    /// Creates an exporter.
    ///
    /// Only one exporter at a time reads a journal under a name. Another exporter, usually of another process, ships
    /// nothing until the first has ended; then its ``run()`` or ``flush()`` takes over.
    ///
    /// - Parameters:
    ///   - journal: The journal of an ``OTLPLogOutput``.
    ///   - configuration: The collector to ship to, and the settings of shipping.
    ///   - transport: The transport for requests; the exporter does not shut it down.
    ///   - clock: The clock for delays.
    ///   - random: The generator for random delays.
    /// - Throws: `LoggingError`: `invalidArgument` for an endpoint, a limit or a header field that is not allowed,
    ///   `journalFailed` if the journal cannot be read.
    public init(
        _ journal: Journal,
        to configuration: OTLPLogConfiguration,
        over transport: any HTTPTransport,
        clock: any Clock<Duration> = ContinuousClock(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws(LoggingError) {
        try configuration.check()
        delay = configuration.delay
        self.clock = clock
        let head = try OTLPCollector.head(configuration)
        let make: @Sendable () throws(JournalError) -> Opened = { () throws(JournalError) in
            let consumer = try journal.consumer(configuration.consumer)
            let collector = OTLPCollector(
                head,
                configuration,
                over: transport,
                clock: clock,
                random: random,
                reportedLosses: DeliveryNote(consumer.note).reportedLosses
            )
            let lane = try DeliveryLane(
                collector,
                from: consumer,
                retry: configuration.retry,
                misconfigurationDelay: configuration.retry.maximumDelay,
                clock: clock,
                random: collector.random
            )
            return Opened(consumer: consumer, lane: lane)
        }
        self.make = make
        let found: Opened?
        do throws(JournalError) {
            found = try make()
        } catch {
            guard error.code == .consumerInUse else {
                throw LoggingError(
                    .journalFailed,
                    "The journal cannot be read as “\(configuration.consumer)”",
                    cause: error
                )
            }
            found = nil
        }
        opened = Mutex(found)
    }

    private func open() throws(JournalError) -> Opened {
        try opened.withLock { opened throws(JournalError) in
            if let opened { return opened }
            let new = try make()
            opened = new
            return new
        }
    }

    /// Returns the lane of the reader; nil while another exporter reads the journal, or if it cannot be read.
    private func openLane() -> DeliveryLane<OTLPCollector>? {
        do throws(JournalError) {
            return try open().lane
        } catch {
            let reason = error.code == .consumerInUse ? nil : error.message
            problem.withLock { $0 = reason }
            return nil
        }
    }

    /// The counts so far; zero while another exporter ships.
    public var statistics: OTLPLogStatistics {
        guard let lane = opened.withLock({ $0 })?.lane else {
            var statistics = OTLPLogStatistics()
            statistics.lastFailure = problem.withLock { $0 }
            return statistics
        }
        return OTLPLogStatistics(lane.status, requests: lane.receiver.requestCount)
    }

    /// Returns the number of records not yet shipped, by scanning them.
    ///
    /// - Throws: `JournalError`, with `consumerInUse` while another exporter ships.
    public func pendingCount() throws(JournalError) -> Int {
        try open().consumer.counts().pending
    }

    /// Ships records as they are logged, until the task is canceled.
    ///
    /// The remaining records stay in the journal. While another exporter ships, the call looks every 30 seconds whether
    /// it has ended. If the journal cannot be read then, ``statistics`` say why.
    public func run() async {
        while true {
            if let lane = openLane() {
                return await lane.run(collectingFor: delay, patience: { Self.patience })
            }
            do { try await clock.sleep(for: Self.patience) } catch { return }
        }
    }

    /// Ships the current records, without waiting for more and without retries.
    ///
    /// - Returns: Whether all were accepted or refused; false if the collector is unreachable or
    ///   asked for a delay, another exporter ships, or the task was canceled.
    @discardableResult
    public func flush() async -> Bool { await deliver() == .drained }

    /// Ships the current records; nil if another exporter does, or the journal cannot be read.
    func deliver() async -> DeliveryLane<OTLPCollector>.Ending? {
        guard let lane = openLane() else { return nil }
        return await lane.deliver(isForced: true)
    }
}
#else
/// Ships the records of a journal to a collector; requires the trait `Logging`.
@available(*, unavailable, message: "Enable the 'Logging' trait of the keel package.")
public enum OTLPLogExporter: Sendable {}
#endif
