public import Testing

/// One promise of `LocalDataSource`, as a check that any source can be put to.
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
        /// Keeping and replacing.
        case saving
        /// Removing.
        case deleting
        /// The order of all elements.
        case order
        /// Predicates.
        case conditions
        /// Many tasks at a time.
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

    /// Puts a source to the check, recording an issue with the current test for each violation.
    ///
    /// - Parameter subject: How to open the source.
    /// - Throws: What the source throws where the promise leaves it no reason to.
    public func run(on subject: LocalDataSourceSubject<Element>) async throws {
        try await body(
            LocalDataSourceUnderTest(source: subject.open(), subject: subject)
        )
    }

    /// Every check.
    public static var all: [Self] { finding + saving + deleting + conditions + concurrency }
}
