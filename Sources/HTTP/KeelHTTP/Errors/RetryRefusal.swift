/// The reason why a call was not repeated despite a transient failure.
public struct RetryRefusal: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// Creates a reason, for layers with reasons of their own.
    public init(_ description: String) { self.description = description }

    /// All attempts that the policy allows were made.
    public static let attemptsExhausted = Self("attempts exhausted")
    /// The server may have acted on the request, and repeating it may do harm.
    public static let notIdempotent = Self("not idempotent")
    /// The body of the request cannot be sent again.
    public static let notReplayable = Self("body not replayable")
    /// The retry budget of the origin is spent because too many calls to it fail.
    public static let budgetExhausted = Self("retry budget exhausted")
    /// The circuit of the origin is open.
    public static let circuitOpen = Self("circuit open")
    /// The server requests a longer pause than the policy allows.
    public static let pauseTooLong = Self("server requests a longer pause")
    /// The call's total time would run out before the next attempt.
    public static let noTimeLeft = Self("no time left")
}
