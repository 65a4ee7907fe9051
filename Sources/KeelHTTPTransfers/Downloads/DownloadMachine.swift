import HTTPTypes
import KeelCore
import KeelHTTP

/// Decides what a resumable download does next; it knows neither a network nor a disk nor a clock.
///
/// Each event is answered by effects, which are done in order. The last of them brings the next
/// event, except `finish` and `fail`, which are the end.
struct DownloadMachine: Sendable {
    /// What happened.
    enum Event: Sendable {
        /// The disk has this, so many bytes of it safe; nil where there is nothing of use.
        case found(DownloadRecord?, durable: Int64, isDamaged: Bool)
        /// The head of a response arrived.
        case answered(DownloadAnswer)
        /// So many bytes of the body were written.
        case wrote(Int)
        /// All that was written is synchronised and noted.
        case kept
        /// The body ended in order.
        case ended
        /// The exchange failed.
        case broke(TransferError)
        /// The pause is over.
        case rested
        /// The digest was compared.
        case checked(Bool)
    }

    /// What is to be done.
    enum Effect: Sendable {
        /// Send the request, for what lies behind `from` if there is a validator.
        case ask(from: Int64, StrongValidator?)
        /// Empty the file and note what it is to become; brings no event.
        case begin(DownloadRecord)
        /// Note what the length turned out to be; brings no event.
        case note(DownloadRecord)
        /// Write the next piece of the body.
        case read
        /// Synchronise and note what was written.
        case keep
        /// Rest for a part of `longest`, but not less than `atLeast`.
        case rest(longest: Duration, atLeast: Duration, TransferError)
        /// Compare the digest of the file.
        case check
        /// Put the file in its place.
        case finish
        /// Remove all that is on the disk; brings no event.
        case discard
        /// Tell who looks; brings no event.
        case tell(TransferEvent)
        /// End with an error.
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

    /// Why the bytes are being made safe.
    private enum Outcome: Sendable {
        case readOn
        case complete
        case failure(TransferError)
    }

    private let rules: ResumableDownload.Configuration
    private let address: DownloadAddress
    private var state = State.start
    private var record: DownloadRecord?
    private var patience = TransferPatience()
    private var now = Duration.zero
    /// How many bytes of the file are written.
    private(set) var position: Int64 = 0
    /// How many of them are safe.
    private(set) var durable: Int64 = 0

    init(_ rules: ResumableDownload.Configuration, address: DownloadAddress) {
        self.rules = rules
        self.address = address
    }

    /// How often the download began anew.
    var restarts: Int { patience.restarts }

    /// What the file is.
    var validator: StrongValidator? { record?.validator }

    /// Takes an event in, which happened `now` after the start of the run.
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
            // Only a mistake of the driver comes here; the transfer must not go on from it.
            return fail(TransferError(.exchange, "The transfer lost its thread."))
        }
    }

    // MARK: Asking

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

    /// Drops what there is and asks for the whole, unless that was done too often.
    private mutating func restart(_ reason: TransferRestart) -> [Effect] {
        guard patience.restarted(rules.retry) else { return fail(TransferError(.changing)) }
        durable = 0
        position = 0
        record = nil
        return [.tell(.restarted(reason))] + ask()
    }

    // MARK: Answers

    private mutating func take(
        _ answer: DownloadAnswer,
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
            state = .reading
            guard let known = record, known.total != total else { return [.read] }
            var more = known
            more.total = total
            record = more
            return [.note(more), .read]
        case 416:
            // The validator still holds, or the range would not have been looked at (RFC 9110
            // section 14.2): the file ends where the part on the disk ends, or is shorter.
            guard validator != nil else { return fail(TransferError(refusedWith: answer.status)) }
            guard let total = answer.range?.total, total == durable, var known = record,
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
        if let total = record?.total, position > total {
            return fail(
                TransferError(.invalidResponse, "The server sent more bytes than it announced.")
            )
        }
        guard position - durable >= Int64(rules.checkpointBytes) else { return [.read] }
        return keep(then: .readOn)
    }

    private mutating func ended() -> [Effect] {
        if let total = record?.total, position < total {
            let error = TransferError(TransportError(.truncatedBody))
            return keep(then: .failure(error))
        }
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
        // Bytes that cannot be continued are no progress: they would be fetched again.
        if position > durable, record?.validator != nil { patience.cameFurther() }
        durable = position
        switch outcome {
        case .readOn:
            state = .reading
            return [tellProgress, .read]
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
