import HTTPTypes
import KeelAnalytics
import KeelHTTP

/// What answers and failures mean that all vendors share.
extension DeliveryOutcome {
    /// The outcome of an exchange that did not come to its end.
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

    /// The outcome of an answer whose status is not from 200 to 299, where the vendor has no rule
    /// of its own for it.
    ///
    /// - Parameter response: The answer.
    init(refusal response: NetworkResponse) {
        let status = response.status.code
        switch status {
        case 300..<400:
            self = .misconfigured(
                DeliveryProblem("The address redirects; name the host it leads to.", status: status)
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
                AnalyticsRejection("refused", "The server answered with status \(status).")
            )
        case 402..<500:
            self = .misconfigured(
                DeliveryProblem("Nothing takes events at this address.", status: status)
            )
        default:
            self = .unknown(.status(status))
        }
    }

    /// What a later part of a batch makes of the outcome of the parts before it.
    ///
    /// Both parts are repeated if one has to be: only destinations where that does no harm send a
    /// batch in parts.
    func combined(with other: DeliveryOutcome) -> DeliveryOutcome {
        guard case .settled(let mine) = self else { return self }
        guard case .settled(let others) = other else { return other }
        return .settled(rejected: mine.merging(others) { first, _ in first })
    }

    /// This outcome with the places of its records in the batch that they were taken from, and with
    /// those records that were not sent at all.
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
    /// A status that says that the server could not, this time.
    static func status(_ status: Int) -> DeliveryProblem {
        DeliveryProblem("The server answered with status \(status).", status: status)
    }

    /// An answer of success that cannot be read.
    static func unreadable(_ status: Int) -> DeliveryProblem {
        DeliveryProblem("The server's answer cannot be read.", status: status)
    }
}

/// The records of a batch that can be sent, in their vendor's form.
struct PreparedBatch<Form> {
    /// The forms, in the order of the batch.
    private(set) var forms: [Form] = []
    /// Where each form's record stands in the batch.
    private(set) var places: [Int] = []
    /// The records that are not sent, by their place.
    private(set) var withheld: [Int: AnalyticsRejection] = [:]

    /// Brings each record into its form.
    ///
    /// All were accepted before, but rules that look at the clock may have changed their mind.
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

    /// Takes out the forms of these indices, for the reasons given.
    mutating func withhold(_ rejected: [Int: AnalyticsRejection]) {
        for (index, rejection) in rejected where places.indices.contains(index) {
            withheld[places[index]] = rejection
        }
        let kept = forms.indices.filter { rejected[$0] == nil }
        forms = kept.map { forms[$0] }
        places = kept.map { places[$0] }
    }
}
