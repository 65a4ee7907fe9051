internal import KeelAnalytics

/// A fault in one delivery to a scripted or fault-injecting destination.
public indirect enum AnalyticsFault: Sendable, Hashable {
    /// The batch arrives, but the reply is lost.
    case lostReply
    /// The batch does not arrive, and the sender cannot tell.
    case lost
    /// The destination is unavailable; `notBefore` is the pause that it asks for.
    case unavailable(notBefore: Duration? = nil)
    /// The batch is too large.
    case tooLarge
    /// The batch is refused without naming the offending record.
    case unacceptable
    /// The destination refuses every batch because its configuration is wrong.
    case misconfigured
    /// The delivery takes this long, then the other fault applies; nil delivers the batch.
    case delay(Duration, then: AnalyticsFault? = nil)

    /// Whether the batch arrives despite the fault.
    var hasArrived: Bool { self == .lostReply }

    var outcome: DeliveryOutcome {
        switch self {
        case .lostReply, .lost: .unknown(DeliveryProblem("the connection was reset"))
        case .unavailable(let pause):
            .postponed(DeliveryProblem("the service is unavailable", status: 503), notBefore: pause)
        case .tooLarge: .tooLarge
        case .unacceptable:
            .unacceptable(AnalyticsRejection("refused", "something in the batch is not accepted"))
        case .misconfigured: .misconfigured(DeliveryProblem("the key is unknown", status: 401))
        case .delay(_, let fault): fault?.outcome ?? .delivered
        }
    }
}
