public import Testing

/// One promise of `AnalyticsDestination`, as a check that any destination or decorator can be put to.
///
/// Run all of them, so that each promise is a line of its own in the log:
///
/// ```swift
/// @Test(arguments: AnalyticsDestinationCheck.applicable(to: [.healthy, .unavailable]))
/// func keepsItsPromises(_ check: AnalyticsDestinationCheck) async throws {
///     try await check.run(on: Self.subject)
/// }
/// ```
///
/// Each check opens a destination of its own; none sleeps.
public struct AnalyticsDestinationCheck: Sendable, CustomTestStringConvertible {
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// What it says about itself.
        case description
        /// The sizes of records.
        case sizes
        /// What arrives.
        case delivery
        /// What it says when something goes wrong.
        case faults
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the destination.
    public let promise: String
    /// The condition that it needs of the other side.
    public let condition: AnalyticsDestinationSubject.Condition

    private let body: @Sendable (AnalyticsDestinationSubject.Opened) async throws -> Void

    init(
        _ group: Group,
        _ promise: String,
        when condition: AnalyticsDestinationSubject.Condition = .healthy,
        _ body: @escaping @Sendable (AnalyticsDestinationSubject.Opened) async throws -> Void
    ) {
        self.group = group
        self.promise = promise
        self.condition = condition
        self.body = body
    }

    /// The group and the promise.
    public var testDescription: String { "\(group): \(promise)" }

    /// Puts a destination to the check, recording an issue with the current test for each violation.
    ///
    /// - Parameter subject: The destination.
    /// - Throws: What opening the destination throws.
    public func run(on subject: AnalyticsDestinationSubject) async throws {
        try await body(try await subject.open(condition))
    }

    /// The checks that need no other conditions than these.
    ///
    /// - Parameter conditions: The conditions that a subject can be put into.
    /// - Returns: The checks.
    public static func applicable(
        to conditions: Set<AnalyticsDestinationSubject.Condition>
    ) -> [Self] {
        all.filter { conditions.contains($0.condition) }
    }

    /// Every check.
    public static let all: [Self] = [description, sizes, delivery, faults].flatMap(\.self)
}
