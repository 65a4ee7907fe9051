import HTTPTypes
import KeelAnalytics
import KeelHTTP

/// The meaning of responses and failures common to all vendors.
extension DeliveryOutcome {
    /// Creates the outcome of an incomplete exchange.
    init(_ error: TransportError) {
        let problem = DeliveryProblem("\(error.code.name): \(error.message)")
        switch error.code {
        case .invalidRequest, .invalidConfiguration, .platformPolicy, .redirectInvalid:
            self = .misconfigured(problem)
        default:
            let neverArrived = error.processed == .no || error.bytesSent == 0
            self = neverArrived ? .postponed(problem, notBefore: nil) : .unknown(problem)
        }
    }

    /// Creates the outcome of a response outside of 200 to 299 for which the vendor has no rule.
    init(refusal response: NetworkResponse) {
        let status = response.status.code
        switch status {
        case 300..<400:
            self = .misconfigured(
                DeliveryProblem(
                    "The URL redirects; use the host that it redirects to.",
                    status: status
                )
            )
        case 401, 403:
            self = .misconfigured(
                DeliveryProblem("The server does not accept the key.", status: status)
            )
        case 413:
            self = .tooLarge
        case 408, 421, 425, 429, 500...:
            self = .postponed(.status(status), notBefore: response.head.retryAfter)
        case 400, 422:
            self = .unacceptable(
                AnalyticsRejection("refused", "The server responded with status \(status).")
            )
        case 402..<500:
            self = .misconfigured(
                DeliveryProblem("The server does not accept events at this URL.", status: status)
            )
        default:
            self = .unknown(.status(status))
        }
    }

    /// Combines the outcomes of two parts of a batch.
    ///
    /// If one part must be repeated, both are: only destinations that allow this split batches.
    func combined(with other: DeliveryOutcome) -> DeliveryOutcome {
        guard case .settled(let mine) = self else { return self }
        guard case .settled(let others) = other else { return other }
        return .settled(rejected: mine.merging(others) { first, _ in first })
    }

    /// Maps the indices to those of the batch, and adds the records that were not sent.
    func placed(at places: [Int], withheld: [Int: AnalyticsRejection]) -> DeliveryOutcome {
        guard case .settled(let rejected) = self else { return self }
        var all = withheld
        for (index, rejection) in rejected where places.indices.contains(index) {
            all[places[index]] = rejection
        }
        return .settled(rejected: all)
    }
}

extension DeliveryProblem {
    static func status(_ status: Int) -> DeliveryProblem {
        DeliveryProblem("The server responded with status \(status).", status: status)
    }

    static func unreadable(_ status: Int) -> DeliveryProblem {
        DeliveryProblem("The server's response cannot be read.", status: status)
    }
}

/// The records of a batch that can be sent, encoded for a vendor.
struct PreparedBatch<Form> {
    private(set) var forms: [Form] = []
    /// The index in the batch of each encoded record.
    private(set) var places: [Int] = []
    /// The records that are not sent, by index in the batch.
    private(set) var withheld: [Int: AnalyticsRejection] = [:]

    /// Encodes each record.
    ///
    /// All were accepted before, but rules that depend on the time may refuse them now.
    init(
        _ batch: [AnalyticsRecord],
        _ form: (AnalyticsRecord) throws(AnalyticsRejection) -> Form
    ) {
        for (place, record) in batch.enumerated() {
            do throws(AnalyticsRejection) {
                forms.append(try form(record))
                places.append(place)
            } catch {
                withheld[place] = error
            }
        }
    }

    /// Removes the encoded records at these indices, for the given reasons.
    mutating func withhold(_ rejected: [Int: AnalyticsRejection]) {
        for (index, rejection) in rejected where places.indices.contains(index) {
            withheld[places[index]] = rejection
        }
        let kept = forms.indices.filter { rejected[$0] == nil }
        forms = kept.map { forms[$0] }
        places = kept.map { places[$0] }
    }
}
