/// A test read a dependency that nobody set for it.
public struct DependencyIssue: Hashable, Sendable {
    /// The key's type.
    public let key: String
    /// The type of the key's values.
    public let valueType: String
    /// What read it; nil when the key's `testValue` was called directly.
    public let location: DependencyLocation?

    init<Key: DependencyKey>(unset key: Key.Type) {
        self.key = String(reflecting: key)
        valueType = String(reflecting: Key.Value.self)
        location = DependencyValues.current.location
    }

    /// What happened and what to do.
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

/// A place in the source: a `@Dependency` property, or a reading of ``DependencyValues``.
public struct DependencyLocation: Hashable, Sendable, CustomStringConvertible {
    /// The module and file, as in `App/Search.swift`.
    public let fileID: String
    /// The file's whole path.
    public let filePath: String
    /// The line, from 1.
    public let line: Int
    /// The column, from 1.
    public let column: Int

    /// The module, the file and the line.
    public var description: String { "\(fileID):\(line)" }
}

/// Takes note of a dependency that a test read and nobody set.
///
/// Tests on Swift Testing need not touch it: linking `KeelDependenciesTesting` is enough.
public struct DependencyIssueReporter: Sendable {
    private let action: @Sendable (DependencyIssue) -> Void

    /// Creates a reporter that runs an action.
    public init(_ action: @escaping @Sendable (DependencyIssue) -> Void) {
        self.action = action
    }

    /// Reports an issue.
    public func report(_ issue: DependencyIssue) {
        action(issue)
    }
}

extension DependencyIssueReporter {
    /// The reporter of a process that set no other.
    ///
    /// This library must not import Testing, which no app should carry; and a test must not pass
    /// over an unset value because a trait is missing. So `KeelDependenciesTesting` is found by
    /// name when it is linked, and without it the process stops.
    static let ofProcess: Self = {
        let name = "23KeelDependenciesTesting20SwiftTestingReporterO"
        guard let found = _typeByName(name) as? any DependencyIssueReporterProvider.Type else {
            return Self { fatalError($0.message) }
        }
        return found.reporter
    }()
}

/// A type that ``DependencyIssueReporter`` finds by its name.
package protocol DependencyIssueReporterProvider {
    static var reporter: DependencyIssueReporter { get }
}
