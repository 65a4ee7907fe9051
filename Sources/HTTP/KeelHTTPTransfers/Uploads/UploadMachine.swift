import HTTPTypes
import KeelCore
import KeelHTTP

/// The state machine of a resumable upload by any protocol, without network, disk or clock.
///
/// Each event returns effects, to be performed in order. The last effect yields the next event, except `finish` and
/// `fail`, which end the run.
struct UploadMachine: Sendable {
    enum Event: Sendable {
        case found(UploadRecord?, isDamaged: Bool)
        case answered(UploadResponse)
        case broke(TransferError)
        case saved
        case rested
    }

    enum Effect: Hashable, Sendable {
        case probe
        case create
        case save(UploadRecord)
        case query(location: String)
        case append(location: String, UploadPiece)
        case sendPlainRequest
        case rest(longest: Duration, atLeast: Duration)
        /// Ask the server to terminate the upload, ignoring the outcome; yields no event.
        case terminate(location: String)
        /// Remove the record; yields no event.
        case forget
        /// Inform the observer; yields no event.
        case resumed(at: Int64)
        case restarted(TransferRestart)
        case progress(Int64)
        case sendingPlainRequest
        case finish
        case fail
    }

    private enum State: Hashable, Sendable {
        case start
        case probing
        case creating
        case saving
        case querying
        case appending(UploadPiece)
        case sendingPlainRequest
        case resting
        case over
    }

    private let rules: ResumableUpload.Configuration
    private let dialect: String
    private let source: UploadSource
    private var state = State.start
    private var record: UploadRecord?
    private var limits: UploadLimits?
    private var patience = TransferPatience()
    private var conflicts = 0
    private var isResumed = false
    private var now = Duration.zero

    private(set) var acknowledged: Int64 = 0
    /// The most bytes that the server has acknowledged of this upload, some of which it may have lost since.
    private var furthest: Int64 = 0
    private(set) var failure: TransferError?
    private(set) var resumedBytes: Int64 = 0
    private(set) var wasResumable = true

    init(_ rules: ResumableUpload.Configuration, dialect: String, source: UploadSource) {
        self.rules = rules
        self.dialect = dialect
        self.source = source
    }

    var restarts: Int { patience.restarts }

    mutating func step(_ event: Event, now: Duration) -> [Effect] {
        self.now = now
        switch (state, event) {
        case (.start, .found(let record, let isDamaged)):
            return start(record, isDamaged)
        case (_, .broke(let error)):
            return broke(error)
        case (.probing, .answered(let answer)), (.creating, .answered(let answer)):
            return begun(answer)
        case (.saving, .saved):
            return append()
        case (.querying, .answered(let answer)):
            return took(answer, nil)
        case (.appending(let piece), .answered(let answer)):
            return took(answer, piece)
        case (.sendingPlainRequest, .answered(let answer)):
            if answer == .complete { return finish() }
            return failed(by: answer)
        case (.resting, .rested):
            return retry()
        default:
            return fail(TransferError(.exchange, "The transfer is in an invalid state."))
        }
    }

    // MARK: Beginning

    private mutating func start(_ record: UploadRecord?, _ isDamaged: Bool) -> [Effect] {
        guard let record, record.dialect == dialect else {
            let isUnusable = isDamaged || record != nil
            return (isUnusable ? [.restarted(.unusableRecord)] : []) + probe()
        }
        guard record.source == source else { return fail(TransferError(.sourceChanged)) }
        self.record = record
        isResumed = true
        return query()
    }

    private mutating func probe() -> [Effect] {
        guard rules.probesServer else { return create() }
        state = .probing
        return [.probe]
    }

    private mutating func create() -> [Effect] {
        state = .creating
        return [.create]
    }

    private mutating func begun(_ answer: UploadResponse) -> [Effect] {
        switch answer {
        case .offers(let limits):
            guard source.size <= limits.maximumSize ?? .max else {
                return fail(TransferError(.tooLarge))
            }
            self.limits = limits
            return create()
        case .created(let location, let more):
            acknowledged = 0
            record = UploadRecord(
                dialect: dialect,
                location: location,
                source: source,
                expires: more.expires ?? limits?.expires,
                maximumPiece: more.maximumPiece ?? limits?.maximumPiece,
                minimumPiece: more.minimumPiece ?? limits?.minimumPiece
            )
            return save()
        case .unsupported:
            guard rules.fallback == .sendPlainRequest else {
                return fail(TransferError(.resumptionUnsupported))
            }
            wasResumable = false
            state = .sendingPlainRequest
            return [.sendingPlainRequest, .sendPlainRequest]
        case .gone:
            return fail(TransferError(refusedWith: .notFound))
        default:
            return failed(by: answer)
        }
    }

    private mutating func save() -> [Effect] {
        guard let record else { return create() }
        state = .saving
        return [.save(record)]
    }

    // MARK: Sending

    private mutating func query() -> [Effect] {
        guard let record else { return probe() }
        state = .querying
        return [.query(location: record.location)]
    }

    private mutating func append() -> [Effect] {
        guard var record else { return probe() }
        let wanted = max(
            min(Int64(rules.pieceByteCount), record.maximumPiece ?? .max),
            record.minimumPiece ?? 1,
            1
        )
        let count = min(wanted, source.size - acknowledged)
        let piece = UploadPiece(
            offset: acknowledged,
            count: count,
            isLast: acknowledged + count == source.size
        )
        // Once the last bytes may have arrived, an upload unknown to the server may be a finished
        // one; this must survive a crash.
        if piece.isLast, !record.mayBeComplete {
            record.mayBeComplete = true
            self.record = record
            return save()
        }
        state = .appending(piece)
        return [.append(location: record.location, piece)]
    }

    private mutating func took(_ answer: UploadResponse, _ piece: UploadPiece?) -> [Effect] {
        switch answer {
        case .arrived(let offset):
            // A server that lost bytes may report fewer than before, but never more than were sent.
            let lowest = piece?.offset ?? 0
            let highest = piece?.end ?? source.size
            guard (lowest...highest).contains(offset) else { return conflict(piece) }
            return arrived(offset, piece)
        case .complete:
            return resumed(at: source.size) + finish()
        case .gone:
            return gone()
        case .conflict:
            return conflict(piece)
        default:
            return failed(by: answer)
        }
    }

    private mutating func arrived(_ offset: Int64, _ piece: UploadPiece?) -> [Effect] {
        var effects: [Effect] = []
        if piece == nil {
            effects += resumed(at: offset)
            record?.mayBeComplete = false
        }
        let hasTakenBytes = offset > acknowledged
        acknowledged = offset
        effects.append(.progress(offset))
        // Bytes that the server had before and lost do not count as progress.
        if offset > furthest {
            furthest = offset
            patience.cameFurther()
            conflicts = 0
        }
        if !hasTakenBytes, piece != nil, source.size > 0 {
            return effects + rest(TransferError(.unavailable, "The server accepted no bytes."), nil)
        }
        return effects + append()
    }

    /// Notes how much an earlier run has sent, at the server's first report of its bytes.
    private mutating func resumed(at offset: Int64) -> [Effect] {
        guard isResumed else { return [] }
        isResumed = false
        resumedBytes = offset
        return [.resumed(at: offset)]
    }

    private mutating func finish() -> [Effect] {
        state = .over
        acknowledged = source.size
        return [.progress(source.size), .forget, .finish]
    }

    // MARK: Failures

    private mutating func gone() -> [Effect] {
        guard record?.mayBeComplete != true else { return fail(TransferError(.outcomeUnknown)) }
        return restart(.expired)
    }

    /// Handles a conflict about a piece, or about the number of bytes that the server was asked for.
    private mutating func conflict(_ piece: UploadPiece?) -> [Effect] {
        conflicts += 1
        guard conflicts > 1, let record else { return query() }
        // Terminating a complete upload may remove the file that it has become. A piece that the server has refused
        // did not complete it.
        guard piece != nil || !record.mayBeComplete else {
            return fail(TransferError(.outcomeUnknown))
        }
        conflicts = 0
        return [.terminate(location: record.location)] + restart(.conflict)
    }

    private mutating func restart(_ reason: TransferRestart) -> [Effect] {
        guard patience.restarted(rules.retry) else { return fail(TransferError(.expired)) }
        record = nil
        acknowledged = 0
        furthest = 0
        resumedBytes = 0
        isResumed = false
        return [.forget, .restarted(reason), .progress(0)] + create()
    }

    private mutating func failed(by answer: UploadResponse) -> [Effect] {
        switch answer {
        case .refused(let status, let asked):
            let error = TransferError(refusedWith: status)
            return error.isTransient ? rest(error, asked) : fail(error)
        case .tooLarge:
            return fail(TransferError(.tooLarge))
        case .damaged:
            return rest(TransferError(.unavailable, "A piece was damaged in transit."), nil)
        case .invalid(let message):
            return fail(TransferError(.invalidResponse, message))
        case .unsupported:
            return fail(TransferError(.resumptionUnsupported))
        case .gone:
            return fail(TransferError(refusedWith: .notFound))
        case .conflict:
            return fail(TransferError(refusedWith: .conflict))
        case .offers, .created, .arrived, .complete:
            return fail(TransferError(.invalidResponse))
        }
    }

    private mutating func broke(_ error: TransferError) -> [Effect] {
        // A plain request may have taken effect and is not sent again.
        guard error.isTransient, state != .sendingPlainRequest, state != .resting else {
            return fail(error)
        }
        return rest(error, nil)
    }

    private mutating func rest(_ error: TransferError, _ asked: Duration?) -> [Effect] {
        guard state != .sendingPlainRequest else { return fail(error) }
        switch patience.failed(rules.retry, asked: asked, now: now) {
        case .giveUp:
            return fail(error)
        case .rest(let longest, let atLeast):
            failure = error
            state = .resting
            return [.rest(longest: longest, atLeast: atLeast)]
        }
    }

    /// Asks the server after a pause: more bytes may have arrived than it could report.
    private mutating func retry() -> [Effect] {
        failure = nil
        if record != nil { return query() }
        return limits == nil ? probe() : create()
    }

    private mutating func fail(_ error: TransferError) -> [Effect] {
        state = .over
        failure = error
        failure?.completedBytes = acknowledged
        return [.fail]
    }
}
