public import Testing

/// A promise of `LocalDataSource` as a check for any source.
///
/// ```swift
/// @Test(arguments: LocalDataSourceCheck<Note>.all)
/// func keepsItsPromises(_ check: LocalDataSourceCheck<Note>) async throws {
///     try await check.run(on: subject)
/// }
/// ```
public struct LocalDataSourceCheck<Element: Sendable & Equatable>: Sendable,
    CustomTestStringConvertible
{
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// Finding elements.
        case finding
        /// Saving and replacing elements.
        case saving
        /// Deleting elements.
        case deleting
        /// The order of all elements.
        case order
        /// Predicates.
        case conditions
        /// Concurrent tasks.
        case concurrency
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the source.
    public let promise: String

    private let body: @Sendable (LocalDataSourceUnderTest<Element>) async throws -> Void

    init(
        _ group: Group,
        _ promise: String,
        _ body: @escaping @Sendable (LocalDataSourceUnderTest<Element>) async throws -> Void
    ) {
        self.group = group
        self.promise = promise
        self.body = body
    }

    /// The group and the promise.
    public var testDescription: String { "\(group): \(promise)" }

    /// Runs the check on a source, recording an issue for each violation.
    ///
    /// - Throws: An error of the source that the promise does not allow.
    public func run(on subject: LocalDataSourceSubject<Element>) async throws {
        try await body(
            LocalDataSourceUnderTest(source: subject.open(), subject: subject)
        )
    }

    /// Every check.
    public static var all: [Self] { finding + saving + deleting + conditions + concurrency }
}
