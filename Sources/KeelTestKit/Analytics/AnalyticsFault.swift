internal import KeelAnalytics

/// What goes wrong with a delivery to a scripted or failing destination.
public indirect enum AnalyticsFault: Sendable, Hashable {
    /// The batch arrives, and the answer is lost.
    case lostReply
    /// The batch does not arrive, and nobody knows.
    case lost
    /// The destination is not available, and may ask for a pause.
    case unavailable(notBefore: Duration? = nil)
    /// The batch is too large.
    case tooLarge
    /// The batch is refused without saying which record it was.
    case unacceptable
    /// The destination takes nothing: its configuration is wrong.
    case misconfigured
    /// It takes this long, and goes on as the other says; nil is a success.
    case delay(Duration, then: AnalyticsFault? = nil)

    /// Whether the batch arrives all the same.
    var hasArrived: Bool { self == .lostReply }

    /// What the destination says.
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
