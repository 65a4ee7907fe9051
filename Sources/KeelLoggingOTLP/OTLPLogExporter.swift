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

/// Ships the records of a journal to a collector, over OTLP/HTTP.
///
/// - A record is sent until the collector takes or refuses it: through restarts, and however long
///   the collector is away. Only the bounds of the journal take one before; a record in its place
///   says how many, and ``statistics`` counts them.
/// - After a lost answer records are sent again, with the same identifier in the attribute
///   `log.record.uid` (a UUID of version 7), by which a collector can tell.
/// - 408, 425, 429 and every status from 500 are repeated after the pause that `Retry-After` asks for,
///   or after a drawn one that doubles: a collector that fails costs no record. What a partial
///   success refuses is final.
/// - A request that is refused (400, 422) or too large (413) is halved, so that one bad record costs
///   itself only. A record is given up when it is refused alone and others are taken; a collector
///   that refuses everything holds records back. It sees at most 30 refused requests a minute.
/// - A wrong address, form or credentials, which is any other status, hold records back and show in
///   ``statistics``.
///
/// ``run()`` ships until its task is cancelled; ``flush()`` ships what there is now, before the end
/// of a program for example. Without either, records stay in the journal.
public final class OTLPLogExporter: Sendable {
    private struct State {
        var statistics = OTLPLogStatistics()
        var random: any RandomNumberGenerator & Sendable
        /// Before this time of the timeline the collector wants to be left alone.
        var notBefore = Duration.zero
        /// The rest of a batch while its refusals are paced.
        var work: OTLPWork?
        var refusals = RefusalPace()
        /// How many records a batch may have, after batches that were too large.
        var batchLimit = Int.max
        /// How many records may be refused one by one before it counts as a refusal of everything.
        var suspectLimit = OTLPWork.suspectLimits.lowerBound
        /// How many records the journal had lost when that was told last.
        var toldLost: Int
        /// The record that tells it, until it is shipped.
        var gap: [UInt8]?
        var ids = LogRecordIDs()
    }

    /// How a pass over the journal has ended.
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
    private let turns = SerialTurns()
    private let state: Mutex<State>

    /// How long a record of another process may wait to be noticed.
    private static let patience = Duration.seconds(30)

    /// Creates an exporter; one at a time reads a journal under a name.
    ///
    /// - Parameters:
    ///   - journal: The journal of an ``OTLPLogOutput``.
    ///   - configuration: Where and how to ship.
    ///   - transport: What requests go over; it is not shut down by this.
    ///   - clock: What delays and pauses are measured on.
    ///   - random: What pauses are drawn from.
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

    /// What has happened so far.
    public var statistics: OTLPLogStatistics { state.withLock { $0.statistics } }

    /// How many records wait to be shipped; it looks at all of them.
    ///
    /// - Throws: `JournalError`.
    public func pendingCount() throws(JournalError) -> Int { try consumer.pendingCount() }

    // MARK: Shipping

    /// Ships records as they come, until the task is cancelled.
    ///
    /// What is not shipped by then stays in the journal.
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

    /// Ships what there is, without waiting for more and without repeating what fails.
    ///
    /// - Returns: Whether everything was taken or refused; false if the collector is away, or wants
    ///   to be left alone, or the task was cancelled.
    @discardableResult
    public func flush() async -> Bool { await ship() == .drained }

    /// Ships batches until there is nothing left or one fails.
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
    /// - Returns: Nil once it is settled; else how the pass ends.
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
                // Nothing else is there to tell a bad record from a collector that takes none.
                let reason = statistics.lastFailure ?? ""
                return rewind(postpone("all that waits is refused: \(reason)", asked: nil))
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

    /// Gives out again whatever was not settled.
    private func rewind(_ outcome: Outcome) -> Outcome {
        consumer.rewind()
        return outcome
    }

    private func takeBatch(besides work: OTLPWork) throws(JournalError) -> [OTLPBatchItem] {
        let records = try consumer.take(
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
        // Of a batch that was all damaged, nothing is left, and yet there may be more behind it.
        return items.isEmpty && !damaged.isEmpty ? try takeBatch(besides: work) : items
    }

    /// The record that tells of those that the journal has lost, where there are any.
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

    /// How a delivery ends before all of it is settled.
    private enum Ending {
        /// The rest follows after a pause.
        case paced(Duration)
        /// The rest is given out again.
        case ended(Outcome)
    }

    /// Sends what there is, in halves where it is refused.
    ///
    /// - Returns: Nil once nothing of it is left to send.
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

    /// Draws the conclusions from a refusal.
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
            // The next time more is tried: that many bad records could stand in a row.
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

    /// Settles records, and counts those that were not settled or lost before.
    private func settle(
        _ positions: [JournalPosition],
        _ count: (inout OTLPLogStatistics, Int) -> Void
    ) throws(JournalError) {
        var settled = 0
        // Also after a failure: what could not be written down does not come again in this process.
        defer { state.withLock { count(&$0.statistics, settled) } }
        try consumer.settle(positions) { positions in
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
