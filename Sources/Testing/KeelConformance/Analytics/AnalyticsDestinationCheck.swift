public import Testing

/// A promise of `AnalyticsDestination` as a check for any destination or decorator.
///
/// Run all checks as arguments, so that each is a line of its own in the log:
///
/// ```swift
/// @Test(arguments: AnalyticsDestinationCheck.applicable(to: [.healthy, .unavailable]))
/// func keepsItsPromises(_ check: AnalyticsDestinationCheck) async throws {
///     try await check.run(on: Self.subject)
/// }
/// ```
///
/// Each check opens its own destination; none sleeps.
public struct AnalyticsDestinationCheck: Sendable, CustomTestStringConvertible {
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// The destination's name.
        case description
        /// The sizes of records.
        case sizes
        /// Successful deliveries.
        case delivery
        /// Reports of faults.
        case faults
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the destination.
    public let promise: String
    /// The required condition of the other side.
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

    /// Runs the check on a destination, recording an issue for each violation.
    ///
    /// - Throws: An error of opening the destination, of its `size(of:)`, or of reading what the other side has
    ///   received.
    public func run(on subject: AnalyticsDestinationSubject) async throws {
        try await body(try await subject.open(condition))
    }

    /// Returns the checks that need only these conditions.
    public static func applicable(
        to conditions: Set<AnalyticsDestinationSubject.Condition>
    ) -> [Self] {
        all.filter { conditions.contains($0.condition) }
    }

    /// Every check.
    public static let all: [Self] = [description, sizes, delivery, faults].flatMap(\.self)
}
