/// The scripted outcome of one call recorded by a ``CallRecorder``.
public enum CallReaction<Failure: Error>: Sendable {
    /// The call fails.
    case fail(Failure)
    /// The call returns this value, which must have the call's return type.
    case answer(any Sendable)
    /// The call is delayed by this duration on the recorder's clock, then the other reaction applies; nil lets it
    /// proceed as usual.
    indirect case delay(Duration, then: CallReaction?)

    /// Delays the call on the recorder's clock, then lets it proceed as usual.
    public static func delay(_ duration: Duration) -> CallReaction { .delay(duration, then: nil) }
}

extension CallReaction: DelayingFault {
    var initialDelay: (duration: Duration, rest: CallReaction?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
