import ArgumentParser
import Foundation
import KeelToolSupport

/// Starts the linter, which is a separate program.
struct LintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Checks the layers of a Swift project with keel-lint.",
        discussion: """
            Passes its arguments to keel-lint, next to this program or on the PATH, and exits with \
            its code: 1 if there are errors or, with --strict, warnings; 2 if the configuration is \
            invalid or, with --strict, missing, if the command line is invalid, or if a report \
            cannot be written; otherwise 0. Exits with 69 if there is no keel-lint.
            """
    )

    @Argument(
        parsing: .captureForPassthrough,
        help: "The arguments of keel-lint; see keel-lint --help."
    )
    var arguments: [String] = []

    func run() throws {
        guard let program = Self.program() else {
            let error = ToolError(
                "there is no keel-lint next to this program or on the PATH",
                advice: """
                    Build it in Keel's repository: swift build --package-path Lint -c release \
                    --product keel-lint. Then copy it next to this program.
                    """
            )
            CommandOutput(isJSON: false).failure(error)
            throw ExitCode(69)
        }
        // In the place of this process, so that signals, output and exit code are the linter's.
        let reason = ReplacementProgram.become([program] + arguments)
        CommandOutput(isJSON: false).failure(
            ToolError(
                "“\(program)” cannot be started: \(reason)",
                advice: "Check that the program is for this machine."
            )
        )
        throw ExitCode.failure
    }

    /// The program beside this one, or the first on the PATH.
    private static func program() -> String? {
        let beside = Bundle.main.executableURL?.resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return ([beside?.path].compactMap { $0 } + folders.map(String.init))
            .map { "\($0)/keel-lint" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
