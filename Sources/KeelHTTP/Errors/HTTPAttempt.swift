/// One attempt at a call, as an error remembers it.
public struct HTTPAttempt: Sendable, Hashable, CustomStringConvertible {
    /// The outcome of the attempt: the name of an error code, or a status.
    public enum Outcome: Sendable, Hashable {
        /// It failed with this code.
        case failed(TransportError.Code)
        /// It was answered with this status.
        case answered(status: Int)
    }

    /// Its number, counted from 1.
    public var number: Int

    /// The outcome.
    public var outcome: Outcome

    /// How long it took.
    public var duration: Duration

    /// Creates a record of an attempt.
    public init(number: Int, outcome: Outcome, duration: Duration) {
        self.number = number
        self.outcome = outcome
        self.duration = duration
    }

    /// The number, the outcome and the time, fit for a log.
    public var description: String {
        let result =
            switch outcome {
            case .failed(let code): code.name
            case .answered(let status): "status \(status)"
            }
        return "\(number): \(result) after \(duration)"
    }
}
