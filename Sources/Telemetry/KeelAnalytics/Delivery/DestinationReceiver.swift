internal import KeelCBOR
internal import KeelCore
internal import KeelJournal

typealias DestinationLane = DeliveryLane<DestinationReceiver>

struct DestinationReceiver: DeliveryReceiver {
    let destination: any AnalyticsDestination
    let rules: DestinationRules
    let tracker: Tracker

    init(_ entry: AnalyticsConfiguration.Entry, of tracker: Tracker) {
        destination = entry.destination
        rules = entry.rules
        self.tracker = tracker
    }

    var limits: (records: Int, bytes: Int) {
        (destination.limits.records, destination.limits.bytes)
    }

    var repeatsUnknown: Bool { destination.guarantee != .atMostOnce }

    // MARK: Records

    func sort(_ stored: JournalRecord) -> DeliveryDecision<AnalyticsRecord> {
        do throws(CBORError) {
            if let decision = decision(on: try RecordCoding.purpose(of: stored.bytes)) {
                return decision
            }
            guard let record = rules.apply(to: try RecordCoding.record(stored.bytes)) else {
                return .settle(.rejected("filtered"))
            }
            do throws(AnalyticsRejection) {
                let size = try destination.size(of: record)
                guard size <= limits.bytes else { return .settle(.rejected("tooLarge")) }
                return .send(record, size: size)
            } catch {
                return .settle(.rejected(error.reason))
            }
        } catch {
            return .settle(.rejected("undecodable"))
        }
    }

    func review(_ record: AnalyticsRecord) -> DeliveryDecision<AnalyticsRecord>? {
        decision(on: record.purpose)
    }

    private func decision(on purpose: ConsentPurpose) -> DeliveryDecision<AnalyticsRecord>? {
        switch tracker.consents[purpose] {
        case .granted: nil
        case .unknown: .hold
        case .denied: .settle(.purged)
        }
    }

    // MARK: Sending

    func send(_ batch: [AnalyticsRecord], lost: Int) async -> DeliveryReply {
        let permit = DeliveryPermit(for: batch, by: tracker.consents)
        let outcome = await DeliveryPermit.$current.withValue(permit) {
            permit.isValid ? await destination.deliver(batch) : DeliveryPermit.withdrawn
        }
        return switch outcome {
        case .settled(let rejected): .settled(rejected: rejected.mapValues(\.reason))
        case .tooLarge:
            .refused(reason: "tooLarge", detail: "The request is too large.", isTooLarge: true)
        case .unacceptable(let rejection):
            .refused(reason: rejection.reason, detail: rejection.detail, isTooLarge: false)
        case .unsent(let fitting): .unsent(fitting: fitting)
        case .postponed where !permit.isValid: .withdrawn
        case .postponed(let problem, let asked):
            .postponed(DeliveryFailure(problem), notBefore: asked)
        case .unknown(let problem): .unknown(DeliveryFailure(problem))
        case .misconfigured(let problem): .misconfigured(DeliveryFailure(problem))
        }
    }

    // MARK: Status

    func show(_ status: DeliveryStatus) {
        let ledger = AnalyticsLedger(counted: status)
        tracker.board.change { all in
            all.destinations[destination.name, default: AnalyticsStatus.Destination()] =
                AnalyticsStatus.Destination(ledger, status)
        }
    }
}

extension DestinationLane {
    convenience init(
        _ entry: AnalyticsConfiguration.Entry,
        of tracker: Tracker
    ) throws(JournalError) {
        try self.init(
            DestinationReceiver(entry, of: tracker),
            from: try tracker.journal.consumer(entry.destination.name, from: entry.start),
            retry: tracker.configuration.retry,
            misconfigurationDelay: tracker.configuration.misconfigurationDelay,
            clock: tracker.configuration.clock,
            random: tracker.configuration.random
        )
    }

    var name: String { receiver.destination.name }
}

extension DeliveryFailure {
    fileprivate init(_ problem: DeliveryProblem) {
        self.init(problem.description, status: problem.status)
    }
}

extension AnalyticsStatus.Destination {
    fileprivate init(_ ledger: AnalyticsLedger, _ status: DeliveryStatus) {
        self.ledger = ledger
        activity =
            switch status.activity {
            case .idle: .idle
            case .delivering: .delivering
            case .waiting: .waiting
            case .misconfigured: .misconfigured
            }
        failures = status.failures
        problem = status.failure.map { DeliveryProblem($0.text, status: $0.status) }
    }
}

extension AnalyticsLedger {
    /// Combines a destination's counters with the journal's; the accepted records are their sum.
    init(_ note: DeliveryNote, _ counts: ConsumerCounts) {
        delivered = note.delivered
        rejected = note.rejected
        if counts.corrupt > 0 { rejected["damaged", default: 0] += counts.corrupt }
        expired = counts.lost
        purged = note.purged
        pending = counts.pending
        accepted = note.sum + counts.sum
    }

    fileprivate init(counted status: DeliveryStatus) {
        self.init(status.note, status.losses)
        pending = 0
        if let base = status.base {
            accepted = base + status.appended
            pending = max(0, accepted - sum)
        } else {
            // Until the first count, only records tracked since the start are known.
            pending = max(0, status.appended - (status.note.sum - status.firstSum))
            accepted = sum
        }
    }
}
