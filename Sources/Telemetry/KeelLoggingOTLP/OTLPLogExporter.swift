#if Logging

internal import HTTPTypes
internal import KeelCore
public import KeelHTTP
internal import KeelHTTPCompression
public import KeelJournal
public import KeelLogging
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Ships the records of a journal to a collector over OTLP/HTTP.
///
/// - A record is retried until the collector accepts or refuses it, across restarts and outages of
///   any length. Only the bounds of the journal can remove it earlier; a record in its place
///   reports how many were lost, and ``statistics`` counts them.
/// - After a lost response records are sent again. The attribute `log.record.uid` (a UUID of
///   version 7) stays the same, so that the collector can deduplicate.
/// - 408, 421, 425, 429 and every status from 500 up are retried after the delay in `Retry-After`,
///   or after a random delay with exponential backoff: a failing collector costs no records.
///   Records refused in a partial success are not retried.
/// - A request that is refused (400, 422) or too large (413) is halved, so that a bad record costs
///   only itself. A record is given up if it is refused alone while others are accepted; a
///   collector that refuses everything holds records back. It receives at most 30 refused requests
///   per minute.
/// - Any other status indicates a wrong URL, format or credentials, which hold records back.
///
/// ``run()`` ships until its task is canceled; ``flush()`` ships the current records, for example
/// at the end of a program. Without either, records stay in the journal.
public final class OTLPLogExporter: Sendable {
    private struct State {
        var statistics = OTLPLogStatistics()
        var random: any RandomNumberGenerator & Sendable
        /// The time on the timeline before which the collector does not want requests.
        var notBefore = Duration.zero
        /// The rest of a batch while its refusals are rate-limited.
        var work: OTLPWork?
        var refusals = RefusalPace()
        /// The maximum number of records per batch, reduced after batches that were too large.
        var batchLimit = Int.max
        /// How many records may be refused one by one before it counts as a refusal of everything.
        var suspectLimit = OTLPWork.suspectLimits.lowerBound
        /// The journal's count of lost records when last reported.
        var toldLost: Int
        /// The record that reports the loss, until it is shipped.
        var gap: [UInt8]?
        var ids = LogRecordIDs()
    }

    /// How a pass over the journal ended.
    enum Outcome: Hashable {
        case drained
        case postponed(Duration)
        case cancelled
    }

    private let configuration: OTLPLogConfiguration
    private let consumer: JournalConsumer
    private let next: HTTPNext
    private let target: OTLPTarget
    private let clock: any Clock<Duration>
    private let timeline: Timeline
    private let turns = SerialQueue()
    private let state: Mutex<State>

    /// The longest delay before records of another process are noticed.
    private static let patience = Duration.seconds(30)

    /// Creates an exporter.
    ///
    /// Only one at a time can read a journal under a name.
    ///
    /// - Parameters:
    ///   - journal: The journal of an ``OTLPLogOutput``.
    ///   - configuration: Where and how to ship.
    ///   - transport: The transport for requests; the exporter does not shut it down.
    ///   - clock: The clock for delays.
    ///   - random: The generator for random delays.
    /// - Throws: `LoggingError`.
    public init(
        _ journal: Journal,
        to configuration: OTLPLogConfiguration,
        over transport: any HTTPTransport,
        clock: any Clock<Duration> = ContinuousClock(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws(LoggingError) {
        try configuration.check()
        self.configuration = configuration
        target = try OTLPTarget(configuration)
        next = transport.chain(configuration.compresses ? [RequestCompression()] : [])
        self.clock = clock
        timeline = Timeline(clock)
        do throws(JournalError) {
            consumer = try journal.consumer(configuration.consumer)
            state = Mutex(State(random: random, toldLost: try consumer.lostCount()))
        } catch {
            throw LoggingError(
                .journalFailed,
                "The journal cannot be read as “\(configuration.consumer)”",
                cause: error
            )
        }
    }

    /// The counts so far.
    public var statistics: OTLPLogStatistics { state.withLock { $0.statistics } }

    /// Returns the number of records not yet shipped, by scanning them.
    ///
    /// - Throws: `JournalError`.
    public func pendingCount() throws(JournalError) -> Int { try consumer.pendingCount() }

    // MARK: Shipping

    /// Ships records as they are logged, until the task is canceled.
    ///
    /// The remaining records stay in the journal.
    public func run() async {
        while !Task.isCancelled {
            switch await ship() {
            case .drained:
                await consumer.waitForRecords(upTo: Self.patience, clock: clock)
                try? await clock.sleep(for: configuration.delay)
            case .postponed(let pause):
                try? await clock.sleep(for: pause)
            case .cancelled:
                return
            }
        }
    }

    /// Ships the current records, without waiting for more and without retries.
    ///
    /// - Returns: Whether all were accepted or refused; false if the collector is unreachable or
    ///   asked for a delay, or the task was canceled.
    @discardableResult
    public func flush() async -> Bool { await ship() == .drained }

    /// Ships batches until none is left or one fails.
    func ship() async -> Outcome {
        let turn = turns.reserve()
        await turns.begin(turn)
        defer { turns.end() }
        let left = state.withLock { $0.notBefore } - timeline.now
        guard left <= .zero else { return .postponed(left) }
        var work = state.withLock { $0.work.take() } ?? OTLPWork()
        while !Task.isCancelled {
            if let outcome = await shipBatch(&work) { return outcome }
        }
        state.withLock { $0.work = work }
        return .cancelled
    }

    /// Ships a batch, or the rest of one.
    ///
    /// - Returns: Nil once it is settled; otherwise how the pass ends.
    private func shipBatch(_ work: inout OTLPWork) async -> Outcome? {
        if work.isEmpty {
            let batch: [OTLPBatchItem]
            do throws(JournalError) {
                batch = try takeBatch(besides: work)
            } catch {
                return rewind(postpone("the journal failed: \(error.code)", asked: nil))
            }
            if batch.isEmpty {
                guard !work.suspects.isEmpty else { return .drained }
                // With no other records, a bad record looks like a collector that refuses all.
                let reason = statistics.lastFailure ?? ""
                return rewind(postpone("all pending records are refused: \(reason)", asked: nil))
            }
            work.add(batch)
        }
        switch await deliver(&work) {
        case nil: return nil
        case .paced(let pause):
            state.withLock { $0.work = work }
            return .postponed(pause)
        case .ended(let outcome): return rewind(outcome)
        }
    }

    /// Makes the consumer return the unacknowledged records again.
    private func rewind(_ outcome: Outcome) -> Outcome {
        consumer.rewind()
        return outcome
    }

    private func takeBatch(besides work: OTLPWork) throws(JournalError) -> [OTLPBatchItem] {
        let records = try consumer.read(
            upTo: min(configuration.batchCount, state.withLock { $0.batchLimit }),
            bytes: configuration.batchByteLimit
        )
        var items: [OTLPBatchItem] = []
        var damaged: [JournalPosition] = []
        for record in records {
            if let stored = StoredLogRecord(record.bytes) {
                items.append(OTLPBatchItem(position: record.position, stored: stored))
            } else {
                damaged.append(record.position)
            }
        }
        if !damaged.isEmpty {
            try settle(damaged) { $0.undecodable += $1 }
        }
        if !work.holdsGap, let last = records.last, let gap = try gapRecord(at: last.time) {
            items.insert(OTLPBatchItem(position: nil, stored: gap), at: 0)
        }
        // An entirely corrupt batch leaves no items, although more records may follow.
        return items.isEmpty && !damaged.isEmpty ? try takeBatch(besides: work) : items
    }

    /// The record that reports records lost from the journal, if any.
    private func gapRecord(at time: Int64) throws(JournalError) -> StoredLogRecord? {
        let lost = try consumer.lostCount()
        return state.withLock { state in
            let count = lost - state.toldLost
            if count > 0, state.gap == nil {
                state.toldLost = lost
                state.statistics.lost += count
                let id = state.ids.next(at: time, using: &state.random)
                let record = LogRecord.lost(count, at: time)
                state.gap = StoredLogRecord.bytes(of: record, id: id)
            }
            return state.gap.flatMap { StoredLogRecord($0) }
        }
    }

    // MARK: One batch

    /// How a delivery ends before everything is settled.
    private enum Ending {
        /// The rest follows after a delay.
        case paced(Duration)
        /// The consumer returns the rest again.
        case ended(Outcome)
    }

    /// Sends the parts, halving those that are refused.
    ///
    /// - Returns: Nil once nothing is left to send.
    private func deliver(_ work: inout OTLPWork) async -> Ending? {
        while let part = work.next() {
            switch await send(part) {
            case .accepted(let rejected):
                if work.suspects.isEmpty { resetSuspectLimit() }
                if rejected < part.count { work.take() }
                guard settle(part, rejected: rejected) else {
                    return .ended(postpone("the journal could not be written", asked: nil))
                }
            case .refused(let reason, let isTooLarge):
                if isTooLarge { state.withLock { $0.batchLimit = (part.count + 1) / 2 } }
                if let ending = refuse(part, reason, &work) { return ending }
            case .later(let reason, let asked):
                return .ended(postpone(reason, asked: asked))
            case .cancelled:
                return .ended(.cancelled)
            }
        }
        return nil
    }

    private func resetSuspectLimit() {
        state.withLock { $0.suspectLimit = OTLPWork.suspectLimits.lowerBound }
    }

    /// Halves or gives up a refused part, and decides how to continue.
    private func refuse(
        _ part: ArraySlice<OTLPBatchItem>,
        _ reason: String,
        _ work: inout OTLPWork
    ) -> Ending? {
        if work.refuse(part), !settle(part, rejected: 1) {
            return .ended(postpone("the journal could not be written", asked: nil))
        }
        let now = timeline.now
        let (isHopeless, pause) = state.withLock { state in
            state.statistics.lastFailure = reason
            let isHopeless = work.suspects.count >= state.suspectLimit
            // Try more next time: that many bad records could be in a row.
            if isHopeless {
                let most = OTLPWork.suspectLimits.upperBound
                state.suspectLimit = min(state.suspectLimit * 2, most)
            }
            let pause = state.refusals.pause(afterRefusalAt: now)
            if let pause { state.notBefore = max(state.notBefore, now + pause) }
            return (isHopeless, pause)
        }
        guard !isHopeless else {
            let longest = configuration.retry.maximumDelay
            return .ended(
                postpone("every record is refused: \(reason)", asked: nil, least: longest)
            )
        }
        return pause.map { .paced($0) }
    }

    private enum Answer {
        case accepted(rejected: Int)
        case refused(String, isTooLarge: Bool)
        case later(String, asked: Duration?)
        case cancelled
    }

    private func send(_ part: ArraySlice<OTLPBatchItem>) async -> Answer {
        state.withLock { $0.statistics.requests += 1 }
        let request = OTLPRequest(part.map(\.stored), resource: target.resource)
        let body = configuration.encoding == .json ? request.json() : request.protobuf()
        let call = HTTPCall(
            target.head,
            body: HTTPBody(body),
            timeouts: HTTPTimeouts(firstByte: configuration.timeout, idle: configuration.timeout)
        )
        do throws(TransportError) {
            let reply = try await next(call)
            let status = reply.head.status.code
            switch OTLPVerdict(reply.head) {
            case .accepted:
                let limit = Deadline(in: configuration.timeout, on: clock)
                let isJSON = configuration.encoding == .json
                return .accepted(
                    rejected: await OTLPPartialSuccess.rejected(reply, isJSON: isJSON, limit)
                )
            case .refused: return .refused("status \(status)", isTooLarge: status == 413)
            case .misdirected: return .later("status \(status)", asked: nil)
            case .later(let asked): return .later("status \(status)", asked: asked)
            }
        } catch {
            guard error.code != .cancelled else { return .cancelled }
            return .later(error.code.name, asked: nil)
        }
    }

    private func settle(_ part: ArraySlice<OTLPBatchItem>, rejected: Int) -> Bool {
        do throws(JournalError) {
            try settle(part.compactMap(\.position)) { statistics, count in
                statistics.rejected += min(rejected, count)
                statistics.delivered += max(0, count - rejected)
            }
        } catch {
            return false
        }
        state.withLock { state in
            if part.contains(where: { $0.position == nil }) { state.gap = nil }
            guard rejected < part.count else { return }
            let limit = min(state.batchLimit, configuration.batchCount)
            state.batchLimit = limit + max(1, limit / 8)
            state.statistics.failures = 0
            if rejected == 0 { state.statistics.lastFailure = nil }
        }
        return true
    }

    /// Settles records, and counts those that were neither settled nor lost before.
    private func settle(
        _ positions: [JournalPosition],
        _ count: (inout OTLPLogStatistics, Int) -> Void
    ) throws(JournalError) {
        var settled = 0
        // Even after a failure: this process does not read the records again.
        defer { state.withLock { count(&$0.statistics, settled) } }
        try consumer.acknowledge(positions) { positions in
            settled = positions.count
            return []
        }
    }

    private func postpone(
        _ reason: String,
        asked: Duration?,
        least: Duration = .zero
    ) -> Outcome {
        let now = timeline.now
        return state.withLock { state in
            state.statistics.failures += 1
            state.statistics.lastFailure = reason
            let drawn = configuration.retry.delay(
                before: state.statistics.failures,
                using: &state.random
            )
            if let asked { state.notBefore = max(state.notBefore, now + asked) }
            return .postponed(max(drawn, asked ?? .zero, least))
        }
    }
}

#endif
