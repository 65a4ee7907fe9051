package import KeelDependencies
import Testing

/// A reporter that records unset dependencies as issues of the running test.
///
/// `KeelDependencies` finds this type by name: renaming it requires a change there, which a test checks.
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
