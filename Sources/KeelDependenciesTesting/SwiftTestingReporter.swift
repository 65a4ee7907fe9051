package import KeelDependencies
import Testing

/// Records an unset dependency as an issue of the running test.
///
/// `KeelDependencies` finds this type by its name: renaming it takes a change there, and a test
/// fails without it.
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
