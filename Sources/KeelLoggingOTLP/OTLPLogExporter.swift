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
/// - 429, 502, 503 and 504 are repeated after the pause that `Retry-After` asks for, or after a
///   drawn one that doubles. What a partial success refuses is final.
/// - A request that is refused or too large is halved, so that one bad record costs itself only.
/// - A wrong address or wrong credentials hold records back, and show in ``statistics``.
///
/// ``run()`` ships until its task is cancelled; ``flush()`` ships what there is now, before the end
/// of a program for example. Without either, records stay in the journal.
public final class OTLPLogExporter: Sendable {
    private struct State {
        var statistics = OTLPLogStatistics()
        var random: any RandomNumberGenerator & Sendable
        /// Before this time of the timeline the collector wants to be left alone.
        var notBefore = Duration.zero
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
        while !Task.isCancelled {
            let batch: [OTLPBatchItem]
            do throws(JournalError) {
                batch = try takeBatch()
            } catch {
                return postpone("the journal failed: \(error.code)", asked: nil)
            }
            guard !batch.isEmpty else { return .drained }
            if let outcome = await deliver(batch) {
                // Whatever was not settled is given out again.
                consumer.rewind()
                return outcome
            }
        }
        return .cancelled
    }

    private func takeBatch() throws(JournalError) -> [OTLPBatchItem] {
        let records = try consumer.take(
            upTo: configuration.batchCount,
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
            try consumer.settle(damaged)
            state.withLock { $0.statistics.undecodable += damaged.count }
        }
        if let last = records.last, let gap = try gapRecord(at: last.time) {
            items.insert(OTLPBatchItem(position: nil, stored: gap), at: 0)
        }
        // Of a batch that was all damaged, nothing is left, and yet there may be more behind it.
        return items.isEmpty && !damaged.isEmpty ? try takeBatch() : items
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

    /// Sends a batch, in halves where it is refused.
    ///
    /// - Returns: Nil once all of it is settled; else how the pass ends.
    private func deliver(_ batch: [OTLPBatchItem]) async -> Outcome? {
        var parts = [batch[...]]
        while let part = parts.popLast() {
            switch await send(part) {
            case .accepted(let rejected):
                guard settle(part, rejected: min(rejected, part.count)) else {
                    return postpone("the journal could not be written", asked: nil)
                }
            case .refused(let reason):
                guard part.count == 1 else {
                    let middle = part.startIndex + part.count / 2
                    parts += [part[middle...], part[..<middle]]
                    continue
                }
                state.withLock { $0.statistics.lastFailure = reason }
                guard settle(part, rejected: 1) else {
                    return postpone("the journal could not be written", asked: nil)
                }
            case .later(let reason, let asked):
                return postpone(reason, asked: asked)
            case .cancelled:
                return .cancelled
            }
        }
        return nil
    }

    private enum Answer {
        case accepted(rejected: Int)
        case refused(String)
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
                // An answer that breaks off has been given all the same.
                let bytes = (try? await reply.body.collect(upTo: 1 << 20)) ?? []
                return .accepted(
                    rejected: OTLPPartialSuccess.rejected(bytes, isJSON: isJSON(reply))
                )
            case .refused: return .refused("status \(status)")
            case .misdirected: return .later("status \(status)", asked: nil)
            case .later(let asked): return .later("status \(status)", asked: asked)
            }
        } catch {
            guard error.code != .cancelled else { return .cancelled }
            return .later(error.code.name, asked: nil)
        }
    }

    private func isJSON(_ reply: HTTPReply) -> Bool {
        guard let type = reply.head.headerFields[.contentType] else {
            return configuration.encoding == .json
        }
        return type.lowercased().hasPrefix("application/json")
    }

    private func settle(_ part: ArraySlice<OTLPBatchItem>, rejected: Int) -> Bool {
        do throws(JournalError) {
            try consumer.settle(part.compactMap(\.position))
        } catch {
            return false
        }
        state.withLock { state in
            if part.contains(where: { $0.position == nil }) { state.gap = nil }
            state.statistics.delivered += max(0, part.count { $0.position != nil } - rejected)
            state.statistics.rejected += rejected
            state.statistics.failures = 0
            if rejected == 0 { state.statistics.lastFailure = nil }
        }
        return true
    }

    private func postpone(_ reason: String, asked: Duration?) -> Outcome {
        let now = timeline.now
        return state.withLock { state in
            state.statistics.failures += 1
            state.statistics.lastFailure = reason
            let drawn = configuration.retry.delay(
                before: state.statistics.failures,
                using: &state.random
            )
            if let asked { state.notBefore = now + asked }
            return .postponed(max(drawn, asked ?? .zero))
        }
    }
}

/// A record of a batch; one that tells of lost records has no place in the journal.
struct OTLPBatchItem {
    let position: JournalPosition?
    let stored: StoredLogRecord
}

#endif
