public import KeelDependencies
public import Testing

/// A trait that overrides dependencies for a test, or for each test of a suite: `.dependencies { … }`.
public struct DependenciesTrait: TestTrait, SuiteTrait, TestScoping {
    /// Always true: each test of a suite gets its own values.
    public var isRecursive: Bool { true }

    let update: @Sendable (inout DependencyValues) async throws -> Void

    /// Runs a test with the overridden dependencies.
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
    /// Overrides dependencies for a test, or separately for each test of a suite.
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
    /// A test's overrides win over those of its suite. Even without a closure, the trait keeps the test values of the
    /// test, so that repeated accesses to a key return the same value.
    public static func dependencies(
        _ update: @escaping @Sendable (inout DependencyValues) async throws -> Void = { _ in }
    ) -> Self {
        Self(update: update)
    }
}

/// A reporter that records unset dependencies as issues of the running test.
///
/// `KeelDependencies` finds this type by its name.
package enum SwiftTestingReporter: DependencyIssueReporterProvider {
    package static var reporter: DependencyIssueReporter {
        DependencyIssueReporter { issue in
            guard let location = issue.location else {
                Issue.record("\(issue.message)")
                return
            }
            Issue.record(
                "\(issue.message)",
                sourceLocation: SourceLocation(
                    fileID: location.fileID,
                    filePath: location.filePath,
                    line: location.line,
                    column: location.column
                )
            )
        }
    }
}
