import HTTPTypes
import KeelCore
import KeelHTTP

/// The state machine of a resumable download, without network, disk or clock.
///
/// Each event returns effects, to be performed in order. The last effect yields the next event, except `finish` and
/// `fail`, which end the run.
struct DownloadMachine: Sendable {
    enum Event: Sendable {
        /// The record on disk and its number of durable bytes; nil if there is no usable one.
        case found(DownloadRecord?, durable: Int64, isDamaged: Bool)
        case answered(DownloadResponse)
        case wrote(Int)
        case kept
        case ended
        case broke(TransferError)
        case rested
        case checked(Bool)
    }

    enum Effect: Sendable {
        case ask(from: Int64, StrongValidator?)
        /// Empty the file and write its record; yields no event.
        case begin(DownloadRecord)
        /// Update the record with the actual length; yields no event.
        case note(DownloadRecord)
        case read
        case keep
        case rest(longest: Duration, atLeast: Duration, TransferError)
        case check
        case finish
        /// Remove all files from disk; yields no event.
        case discard
        /// Inform the observer; yields no event.
        case tell(TransferEvent)
        case fail(TransferError)
    }

    private enum State: Sendable {
        case start
        case asking(StrongValidator?)
        case reading
        case keeping(then: Outcome)
        case resting
        case checking
        case over
    }

    private enum Outcome: Sendable {
        case readOn
        /// Ask for the bytes after this part, or learn that there are none.
        case askOn
        case complete
        case failure(TransferError)
    }

    private let rules: ResumableDownload.Configuration
    private let address: DownloadAddress
    private var state = State.start
    private var record: DownloadRecord?
    /// The end of the part that the server sent last, if the length of the file is unknown.
    private var partEnd: Int64?
    private var patience = TransferPatience()
    private var now = Duration.zero
    private(set) var position: Int64 = 0
    private(set) var durable: Int64 = 0

    init(_ rules: ResumableDownload.Configuration, address: DownloadAddress) {
        self.rules = rules
        self.address = address
    }

    var restarts: Int { patience.restarts }

    var validator: StrongValidator? { record?.validator }

    mutating func step(_ event: Event, now: Duration) -> [Effect] {
        self.now = now
        switch (state, event) {
        case (.start, .found(let record, let durable, let isDamaged)):
            return start(record, durable, isDamaged)
        case (.asking(let validator), .answered(let answer)):
            return take(answer, validator)
        case (.asking, .broke(let error)):
            return decide(error)
        case (.reading, .wrote(let count)):
            return wrote(count)
        case (.reading, .ended):
            return ended()
        case (.reading, .broke(let error)):
            return keep(then: .failure(error))
        case (.keeping(let outcome), .kept):
            return kept(outcome)
        case (.resting, .rested):
            return ask()
        case (.resting, .broke(let error)):
            return fail(error)
        case (.checking, .checked(let isRight)):
            state = .over
            guard isRight else { return [.discard, .fail(TransferError(.digestMismatch))] }
            return [.finish]
        default:
            // Only an error of the driver leads here; the transfer must not continue.
            return fail(TransferError(.exchange, "The transfer is in an invalid state."))
        }
    }

    // MARK: Requests

    private mutating func start(
        _ record: DownloadRecord?,
        _ durable: Int64,
        _ isDamaged: Bool
    ) -> [Effect] {
        guard let record, durable > 0 else {
            return (isDamaged ? [.tell(.restarted(.unusableRecord))] : []) + ask()
        }
        guard rules.mayContinue(record.source, at: address) else {
            return [.tell(.restarted(.otherAddress))] + ask()
        }
        self.record = record
        self.durable = durable
        position = durable
        if durable == record.total {
            state = .checking
            return [.tell(.resumed(at: durable)), tellProgress, .check]
        }
        guard record.validator != nil else {
            return [.tell(.restarted(.noValidator))] + ask()
        }
        return [.tell(.resumed(at: durable)), tellProgress] + ask()
    }

    private mutating func ask() -> [Effect] {
        let validator = durable > 0 ? record?.validator : nil
        state = .asking(validator)
        return [.ask(from: validator == nil ? 0 : durable, validator)]
    }

    /// Drops all bytes and requests the whole file, unless the limit of restarts is reached.
    private mutating func restart(_ reason: TransferRestart) -> [Effect] {
        guard patience.restarted(rules.retry) else { return fail(TransferError(.changing)) }
        durable = 0
        position = 0
        record = nil
        return [.tell(.restarted(reason))] + ask()
    }

    // MARK: Responses

    private mutating func take(
        _ answer: DownloadResponse,
        _ validator: StrongValidator?
    ) -> [Effect] {
        switch answer.status.code {
        case 200:
            guard !answer.isCoded else { return fail(TransferError(.contentCoded)) }
            var effects: [Effect] = []
            if validator != nil {
                guard patience.restarted(rules.retry) else {
                    return fail(TransferError(.changing))
                }
                let isSame = validator?.holds(for: answer.fields) ?? false
                effects.append(.tell(.restarted(isSame ? .rangeRefused : .changed)))
            }
            record = answer.record
            partEnd = nil
            durable = 0
            position = 0
            state = .reading
            return effects + [.begin(answer.record), .read]
        case 206:
            guard let validator, let range = answer.range, let positions = range.positions,
                positions.lowerBound == durable, !answer.isCoded
            else { return restart(.rangeRefused) }
            let total = range.total ?? record?.total
            guard validator.holds(for: answer.fields),
                record?.total == nil || total == record?.total
            else { return restart(.changed) }
            partEnd = total == nil ? min(positions.upperBound, .max - 1) + 1 : nil
            state = .reading
            guard let known = record, known.total != total else { return [.read] }
            var more = known
            more.total = total
            record = more
            return [.note(more), .read]
        case 416:
            // The validator still holds, or the range would have been ignored (RFC 9110 section
            // 14.2): the file ends where the part ends, or is shorter. It is not shorter if the
            // server has just sent a part that ends there.
            guard validator != nil else { return fail(TransferError(refusedWith: answer.status)) }
            guard let total = answer.range?.total ?? partEnd, total == durable, var known = record,
                known.total == nil || known.total == total
            else { return restart(.rangeRefused) }
            known.total = total
            record = known
            state = .checking
            return [.note(known), .check]
        default:
            guard answer.status.kind != .successful else {
                return fail(TransferError(.invalidResponse, status: answer.status))
            }
            let error = TransferError(refusedWith: answer.status)
            return decide(error, asked: answer.asked)
        }
    }

    // MARK: Bytes

    private mutating func wrote(_ count: Int) -> [Effect] {
        position += Int64(count)
        if let end = record?.total ?? partEnd, position > end {
            return fail(
                TransferError(.invalidResponse, "The server sent more bytes than it announced.")
            )
        }
        guard position - durable >= Int64(rules.checkpointByteCount) else { return [.read] }
        return keep(then: .readOn)
    }

    private mutating func ended() -> [Effect] {
        if let end = record?.total ?? partEnd, position < end {
            let error = TransferError(TransportError(.truncatedBody))
            return keep(then: .failure(error))
        }
        // A server may send less than it was asked for (RFC 9110 section 15.3.7).
        guard partEnd == nil else { return keep(then: .askOn) }
        guard record?.total == nil, var known = record else { return keep(then: .complete) }
        known.total = position
        record = known
        return [.note(known)] + keep(then: .complete)
    }

    private mutating func keep(then outcome: Outcome) -> [Effect] {
        state = .keeping(then: outcome)
        return [.keep]
    }

    private mutating func kept(_ outcome: Outcome) -> [Effect] {
        // Bytes that cannot be continued are no progress, as they would be fetched again.
        if position > durable, record?.validator != nil { patience.cameFurther() }
        durable = position
        switch outcome {
        case .readOn:
            state = .reading
            return [tellProgress, .read]
        case .askOn:
            return [tellProgress] + ask()
        case .complete:
            state = .checking
            return [tellProgress, .check]
        case .failure(let error):
            return [tellProgress] + decide(error)
        }
    }

    private var tellProgress: Effect {
        .tell(.progress(TransferProgress(completedBytes: durable, totalBytes: record?.total)))
    }

    // MARK: Failures

    private mutating func decide(
        _ error: TransferError,
        asked: Duration? = nil
    ) -> [Effect] {
        guard error.isTransient else { return fail(error) }
        switch patience.failed(rules.retry, asked: asked, now: now) {
        case .giveUp:
            return fail(error)
        case .rest(let longest, let atLeast):
            state = .resting
            return [.rest(longest: longest, atLeast: atLeast, error)]
        }
    }

    private mutating func fail(_ error: TransferError) -> [Effect] {
        state = .over
        var error = error
        error.completedBytes = durable
        return [.fail(error)]
    }
}
