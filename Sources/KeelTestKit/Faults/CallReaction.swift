/// The outcome of one call of a double that a ``CallRecorder`` stands behind.
public enum CallReaction<Failure: Error>: Sendable {
    /// The call fails.
    case fail(Failure)
    /// The call is answered with this value, which must be of the type that the call returns.
    case answer(any Sendable)
    /// The call takes this long on the recorder's clock, and then the other thing happens; nil lets it
    /// go on as usual.
    indirect case delay(Duration, then: CallReaction?)

    /// The call takes this long on the recorder's clock, and then goes on as usual.
    public static func delay(_ duration: Duration) -> CallReaction { .delay(duration, then: nil) }
}

extension CallReaction: DelayingFault {
    var initialDelay: (duration: Duration, rest: CallReaction?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
