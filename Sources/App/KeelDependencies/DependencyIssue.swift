/// An issue of a test that read a dependency without a test value.
public struct DependencyIssue: Hashable, Sendable {
    /// The type of the key.
    public let key: String
    /// The type of the key's values.
    public let valueType: String
    /// The location of the access; nil if the key's `testValue` was called directly.
    public let location: DependencyLocation?

    init<Key: DependencyKey>(unset key: Key.Type) {
        self.key = String(reflecting: key)
        valueType = String(reflecting: Key.Value.self)
        location = DependencyValues.current.location
    }

    /// A description of the issue and its remedies.
    public var message: String {
        let name = key.split(separator: ".").last.map(String.init) ?? key
        return """
            The dependency \(key) has no value in tests, and \
            \(location.map { "\($0)" } ?? "this test") reads it (value type: \(valueType)).
            Set it for the test with `@Test(.dependencies { $0[\(name).self] = … })`, or around a \
            call with `withDependencies { $0[\(name).self] = … } operation: { … }`, or give \
            \(name) a `testValue`.
            """
    }
}

/// A source location: that of a `@Dependency` property, or of an access to ``DependencyValues``.
public struct DependencyLocation: Hashable, Sendable, CustomStringConvertible {
    /// The module and file, as in `App/Search.swift`.
    public let fileID: String
    /// The full path of the file.
    public let filePath: String
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1.
    public let column: Int

    /// The module, the file and the line.
    public var description: String { "\(fileID):\(line)" }
}

/// A reporter of dependencies that a test read without a test value.
///
/// With Swift Testing, linking `KeelDependenciesTesting` suffices.
public struct DependencyIssueReporter: Sendable {
    private let action: @Sendable (DependencyIssue) -> Void

    /// Creates a reporter that calls a closure.
    public init(_ action: @escaping @Sendable (DependencyIssue) -> Void) {
        self.action = action
    }

    /// Reports an issue.
    public func report(_ issue: DependencyIssue) {
        action(issue)
    }
}

extension DependencyIssueReporter {
    /// The default reporter of the process.
    ///
    /// This library must not import Testing, because apps should not link it. Therefore `KeelDependenciesTesting` is
    /// found by name if it is linked, and otherwise the process stops.
    static let ofProcess: Self = {
        let name = "23KeelDependenciesTesting20SwiftTestingReporterO"
        guard let found = _typeByName(name) as? any DependencyIssueReporterProvider.Type else {
            // The read has no value to return, and its caller cannot throw.
            return Self { fatalError($0.message) }
        }
        return found.reporter
    }()
}

/// A type that ``DependencyIssueReporter`` finds by name.
package protocol DependencyIssueReporterProvider {
    static var reporter: DependencyIssueReporter { get }
}
