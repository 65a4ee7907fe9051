/// A record of one attempt at a call, kept in an error.
public struct HTTPAttempt: Sendable, Hashable, CustomStringConvertible {
    /// The result of an attempt.
    public enum Outcome: Sendable, Hashable {
        /// The attempt failed with this code.
        case failed(TransportError.Code)
        /// The server answered with this status.
        case answered(status: Int)
    }

    /// The number of the attempt, counted from 1.
    public var number: Int

    /// How the attempt ended.
    public var outcome: Outcome

    /// The time that the attempt took.
    public var duration: Duration

    /// Creates a record of an attempt.
    public init(number: Int, outcome: Outcome, duration: Duration) {
        self.number = number
        self.outcome = outcome
        self.duration = duration
    }

    /// The number, the outcome and the duration, safe for logs.
    public var description: String {
        let result =
            switch outcome {
            case .failed(let code): code.name
            case .answered(let status): "status \(status)"
            }
        return "\(number): \(result) after \(duration)"
    }
}
