public import KeelDependencies
public import Testing

/// Sets dependencies for a test, or for each test of a suite.
///
/// Written `.dependencies { … }`, in `@Test` or `@Suite`.
public struct DependenciesTrait: TestTrait, SuiteTrait, TestScoping {
    /// True: a suite's tests each get the values anew, and share none.
    public var isRecursive: Bool { true }

    let update: @Sendable (inout DependencyValues) async throws -> Void

    /// Runs a test with the dependencies set.
    @concurrent
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        var values = DependencyValues.current
        values.beginNested()
        values.issueReporter = SwiftTestingReporter.reporter
        try await update(&values)
        values.endNested()
        try await withDependencies(from: values, operation: function)
    }
}

extension Trait where Self == DependenciesTrait {
    /// Sets dependencies for a test, or anew for each test of a suite.
    ///
    /// ```swift
    /// @Suite(.dependencies { $0.restaurants = .fixtures })
    /// struct SearchTests {
    ///     @Test(.dependencies { $0.clock = .frozen }) func findsRamen() {
    ///         #expect(Search().results(for: "ramen").count == 2)
    ///     }
    /// }
    /// ```
    ///
    /// A test's own settings win over its suite's. Without a closure, the test still has a place
    /// to keep its test values, so that two readings of one key meet the same value.
    public static func dependencies(
        _ update: @escaping @Sendable (inout DependencyValues) async throws -> Void = { _ in }
    ) -> Self {
        Self(update: update)
    }
}
